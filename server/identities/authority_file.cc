#include "server/identities/authority_file.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"

namespace slipway::server {
namespace {

constexpr int64_t kMaxBytes = 64 << 10;
constexpr int kMode = 0600;

absl::StatusOr<std::unique_ptr<CertificateAuthority>> MakeAuthority(const std::string& path,
                                                                    absl::Time now) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<CertificateAuthority> authority,
                           CertificateAuthority::Create(now));
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(path, authority->ToPem(), /*durable=*/true, kMode));
  Log(LogLevel::kInfo, "certificate authority made", {{"file", path}});
  return authority;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateAuthority>> OpenAuthority(const std::string& path,
                                                                    absl::Time now) {
  const absl::Status is_secret = CheckSecretFile(path);
  if (absl::IsNotFound(is_secret)) return MakeAuthority(path, now);
  SLIPWAY_RETURN_IF_ERROR(is_secret);
  SLIPWAY_ASSIGN_OR_RETURN(const std::string pem, ReadFile(path, kMaxBytes));
  absl::StatusOr<std::unique_ptr<CertificateAuthority>> authority =
      CertificateAuthority::Parse(pem);
  if (authority.ok() || !absl::IsDataLoss(authority.status())) return authority;
  return absl::DataLossError(absl::StrCat("the certificate authority in '", path,
                                          "' is damaged: ", authority.status().message(),
                                          "; put a copy of it back. If there is none, remove it: "
                                          "the server then makes another one, and "
                                          "everybody who has joined has to join again"));
}

}  // namespace slipway::server
