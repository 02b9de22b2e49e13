// Role: what somebody may do with a server.
#ifndef SLIPWAY_CORE_IDENTITY_ROLE_H_
#define SLIPWAY_CORE_IDENTITY_ROLE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

enum class Role : uint8_t {
  kUser,    // Make jobs, and see and end one's own.
  kAgent,   // Report devices and work on them for everybody.
  kWorker,  // Compile for everybody.
  kAdmin,   // See and end everybody's jobs.
  kServer,  // Be the server itself.
};

// Lower case: "user".
absl::string_view RoleName(Role role);
std::optional<Role> RoleNamed(absl::string_view name);

// A set of roles. A value type.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(std::initializer_list<Role> roles) {
    for (const Role role : roles) bits_ |= BitOf(role);
  }

  constexpr void Add(Role role) { bits_ |= BitOf(role); }
  constexpr bool Has(Role role) const { return (bits_ & BitOf(role)) != 0; }
  constexpr bool HasAnyOf(RoleSet others) const { return (bits_ & others.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

  // Their names in the order of Role, joined by `joiner`.
  std::string ToString(absl::string_view joiner) const;
  // The inverse with "+". INVALID_ARGUMENT for none, for a name that is no role, and for one that comes twice.
  static absl::StatusOr<RoleSet> Parse(absl::string_view text);

  friend constexpr bool operator==(RoleSet, RoleSet) = default;

 private:
  static constexpr uint8_t BitOf(Role role) {
    return static_cast<uint8_t>(1U << static_cast<uint8_t>(role));
  }

  uint8_t bits_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_ROLE_H_
