// Given identities: those that an authority of somebody else vouches for, such as a company's.
//
// Its certificates cannot name a record of the server, which does not exist before they come. They say roles and name themselves, in
// a URI among the subject's alternative names, and the server makes the record when it first sees one (server/identities).
#ifndef SLIPWAY_CORE_IDENTITY_GIVEN_IDENTITY_H_
#define SLIPWAY_CORE_IDENTITY_GIVEN_IDENTITY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "core/identity/role.h"

namespace slipway {

struct GivenIdentity {
  std::string name;  // Good by CheckIdentityName (identity_id.h).
  RoleSet roles;     // One at least; never that of servers.

  // The id of its record, always the same: by it alone it is known again.
  std::string id() const;
};

// Of "urn:slipway:ROLES:NAME": "urn:slipway:user:ada", "urn:slipway:user+admin:ada". Nullopt for anything else.
std::optional<GivenIdentity> GivenIdentityOfUri(absl::string_view uri);

// The id of the record of whom a certificate's URI names, our own authority's or another's. Nullopt for a URI of anything else.
std::optional<std::string> RecordIdOfUri(absl::string_view uri);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_GIVEN_IDENTITY_H_
