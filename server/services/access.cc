#include "server/services/access.h"

#include "absl/strings/str_cat.h"

namespace slipway::server {
namespace {

constexpr bool IsInOrder() {
  for (size_t i = 0; i < kAccess.size(); ++i) {
    if (kAccess[i].rpc != static_cast<Rpc>(i)) return false;
  }
  return true;
}
static_assert(IsInOrder(), "a row is found by its call's number");

}  // namespace

absl::Status CheckAccess(const Caller& caller, Rpc rpc) {
  const AccessRow& row = kAccess[static_cast<size_t>(rpc)];
  if (caller.roles.HasAnyOf(row.roles)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "'", caller.owner, "' is not ", row.roles.ToString(" or "), ", as ", row.method, " wants"));
}

}  // namespace slipway::server
