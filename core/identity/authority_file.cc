#include "core/identity/authority_file.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_file.h"

namespace slipway {
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
  return absl::DataLossError(absl::StrCat("the certificate authority in \"", path,
                                          "\" is damaged: ", authority.status().message(),
                                          "; put a copy of it back. If there is none, remove it: "
                                          "another one is then made, and "
                                          "everybody who has joined has to join again"));
}

absl::Status MakeIdentity(
    const CertificateAuthority& authority, const std::string& path,
    absl::FunctionRef<absl::StatusOr<std::string>(absl::string_view request)> sign) {
  SLIPWAY_ASSIGN_OR_RETURN(CertificateRequest request, NewCertificateRequest());
  SLIPWAY_ASSIGN_OR_RETURN(std::string certificate, sign(request.request));
  return WriteIdentity(path, {.key = std::move(request.key),
                              .certificate = std::move(certificate),
                              .authority = authority.certificate()});
}

std::optional<CertificateFacts> ReadFresh(const std::string& path,
                                          const CertificateAuthority& authority, absl::Time now) {
  const absl::StatusOr<Identity> kept = ReadIdentity(path);
  if (!kept.ok() || kept->authority != authority.certificate()) return std::nullopt;
  absl::StatusOr<CertificateFacts> facts = ReadCertificate(kept->certificate);
  if (!facts.ok()) return std::nullopt;
  const absl::Duration lifetime = facts->not_after - facts->not_before;
  if (facts->not_before > now || facts->not_after - now < lifetime / 3) return std::nullopt;
  return *std::move(facts);
}

absl::Status KeepServerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now, absl::Duration lifetime) {
  if (ReadFresh(path, authority, now).has_value()) return absl::OkStatus();
  return MakeIdentity(authority, path, [&](absl::string_view request) {
    return authority.SignServer(request, now, lifetime);
  });
}

absl::Status KeepSignerIdentity(const CertificateAuthority& authority, const std::string& path,
                                absl::Time now, absl::Duration lifetime) {
  if (ReadFresh(path, authority, now).has_value()) return absl::OkStatus();
  return MakeIdentity(authority, path, [&](absl::string_view request) {
    return authority.SignSigner(request, now, lifetime);
  });
}

}  // namespace slipway
