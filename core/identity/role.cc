#include "core/identity/role.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace slipway {
namespace {

struct NamedRole {
  Role role;
  absl::string_view name;
};

// In the order of Role.
constexpr std::array<NamedRole, 5> kRoles = {{
    {Role::kUser, "user"},
    {Role::kAgent, "agent"},
    {Role::kWorker, "worker"},
    {Role::kAdmin, "admin"},
    {Role::kServer, "server"},
}};

}  // namespace

absl::string_view RoleName(Role role) { return kRoles[static_cast<size_t>(role)].name; }

std::optional<Role> RoleNamed(absl::string_view name) {
  for (const NamedRole& each : kRoles) {
    if (each.name == name) return each.role;
  }
  return std::nullopt;
}

std::string RoleSet::ToString(absl::string_view joiner) const {
  std::string text;
  for (const NamedRole& each : kRoles) {
    if (Has(each.role)) absl::StrAppend(&text, text.empty() ? "" : joiner, each.name);
  }
  return text;
}

absl::StatusOr<RoleSet> RoleSet::Parse(absl::string_view text) {
  RoleSet roles;
  for (const absl::string_view name : absl::StrSplit(text, '+')) {
    const std::optional<Role> role = RoleNamed(name);
    if (!role.has_value() || roles.Has(*role)) {
      return absl::InvalidArgumentError("not a list of different roles, joined by \"+\"");
    }
    roles.bits_ |= BitOf(*role);
  }
  return roles;
}

}  // namespace slipway
