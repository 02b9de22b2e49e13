// Roles as records and requests have them.
#ifndef SLIPWAY_SERVER_IDENTITIES_ROLES_H_
#define SLIPWAY_SERVER_IDENTITIES_ROLES_H_

#include <vector>

#include "core/identity/role.h"
#include "proto/slipway/v1/identity.pb.h"

namespace slipway::server {

// Of a record; those that this server does not know are left out.
RoleSet RolesOf(const v1::IdentityRecord& record);

// In the order of Role; without that of servers, which no record has.
std::vector<v1::Role> ToProto(RoleSet roles);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_IDENTITIES_ROLES_H_
