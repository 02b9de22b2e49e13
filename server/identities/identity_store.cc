#include "server/identities/identity_store.h"

#include "core/identity/identity_id.h"

namespace slipway::server {
namespace {

constexpr size_t kSecretDigestBytes = 32;

bool HasRoles(const v1::IdentityRecord& record) {
  for (const int role : record.roles()) {
    if (!v1::Role_IsValid(role) || role == v1::ROLE_UNSPECIFIED) return false;
  }
  return record.roles_size() > 0;
}

}  // namespace

absl::Status CheckIdentityRecord(const v1::IdentityRecord& record) {
  if (!IsIdentityId(record.id())) return absl::DataLossError("its id is none");
  if (!CheckIdentityName(record.name()).ok()) return absl::DataLossError("its name is none");
  if (!HasRoles(record)) return absl::DataLossError("its roles are none");
  switch (record.kind()) {
    case v1::IdentityRecord::INVITED:
    case v1::IdentityRecord::TOKEN:
      if (record.secret_sha256().size() != kSecretDigestBytes) {
        return absl::DataLossError("its secret has no digest");
      }
      if (record.expires_ns() <= 0) return absl::DataLossError("it never expires");
      return absl::OkStatus();
    case v1::IdentityRecord::JOINED:
      if (record.joined_ns() <= 0) return absl::DataLossError("it has joined at no time");
      return absl::OkStatus();
    default:
      return absl::DataLossError("its kind is none");
  }
}

}  // namespace slipway::server
