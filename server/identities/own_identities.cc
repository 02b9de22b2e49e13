#include "server/identities/own_identities.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "core/base/status_macros.h"
#include "core/identity/authority_file.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_file.h"
#include "core/identity/identity_id.h"
#include "proto/slipway/v1/identity.pb.h"
#include "server/identities/roles.h"

namespace slipway::server {
namespace {

bool IsCallerKnown(const CertificateFacts& facts, const Identities& identities, Role role) {
  for (const std::string& uri : facts.uris) {
    const auto id = IdentityOfUri(uri);
    if (!id.has_value()) continue;
    const absl::optional<v1::IdentityRecord> record = identities.Find(*id);
    if (record.has_value() && record->is_own() && RolesOf(*record).Has(role)) return true;
  }
  return false;
}

}  // namespace

absl::Status KeepOwnIdentity(const CertificateAuthority& authority, Identities& identities,
                             Role role, const std::string& path, absl::Time now) {
  const auto kept = ReadFresh(path, authority, now);
  if (kept.has_value() && IsCallerKnown(*kept, identities, role)) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const v1::IdentityRecord record, identities.MakeOwn(role));
  return MakeIdentity(authority, path,
                      [&](absl::string_view request) -> absl::StatusOr<std::string> {
                        SLIPWAY_ASSIGN_OR_RETURN(Identities::Membership membership,
                                                 identities.Renew(record.id(), request));
                        return std::move(membership.certificate);
                      });
}

}  // namespace slipway::server
