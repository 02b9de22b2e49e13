#include "server/identities/roles.h"

#include <algorithm>

namespace slipway::server {
namespace {

struct RoleRow {
  Role role;
  v1::Role number;
};
constexpr RoleRow kRoles[] = {
    {Role::kUser, v1::ROLE_USER},
    {Role::kAgent, v1::ROLE_AGENT},
    {Role::kWorker, v1::ROLE_WORKER},
    {Role::kAdmin, v1::ROLE_ADMIN},
};

}  // namespace

RoleSet RolesOf(const v1::IdentityRecord& record) {
  RoleSet roles;
  const auto& all = record.roles();
  for (const RoleRow& row : kRoles) {
    if (std::find(all.begin(), all.end(), row.number) != all.end()) roles.Add(row.role);
  }
  return roles;
}

std::vector<v1::Role> ToProto(RoleSet roles) {
  std::vector<v1::Role> numbers;
  for (const RoleRow& row : kRoles) {
    if (roles.Has(row.role)) numbers.push_back(row.number);
  }
  return numbers;
}

}  // namespace slipway::server
