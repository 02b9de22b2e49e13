#include "server/identities/statement_key.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/identity/authority_file.h"
#include "core/identity/identity_file.h"

namespace slipway::server {
namespace {

// It is renewed when a third of that is left.
constexpr absl::Duration kLifetime = absl::Hours(24 * 90);

}  // namespace

absl::StatusOr<std::unique_ptr<StatementKey>> StatementKey::Open(
    const CertificateAuthority* authority, std::string path, absl::Time now) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<StatementChecker> checker,
                           StatementChecker::Create(authority->certificate()));
  std::unique_ptr<StatementKey> key(
      new StatementKey(authority, std::move(path), std::move(checker)));
  SLIPWAY_RETURN_IF_ERROR(key->Renew(now));
  return key;
}

absl::Status StatementKey::Renew(absl::Time now) {
  SLIPWAY_RETURN_IF_ERROR(KeepSignerIdentity(authority_, path_, now, kLifetime));
  SLIPWAY_ASSIGN_OR_RETURN(const Identity kept, ReadIdentity(path_));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      std::unique_ptr<StatementSigner> signer, StatementSigner::Create(kept.key, kept.certificate),
      absl::StrCat("'", path_, "' (remove it: the server makes another one)"));
  absl::MutexLock lock(&mu_);
  signer_ = std::move(signer);
  return absl::OkStatus();
}

std::shared_ptr<const StatementSigner> StatementKey::signer() const {
  absl::MutexLock lock(&mu_);
  return signer_;
}

}  // namespace slipway::server
