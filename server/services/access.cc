#include "server/services/access.h"

#include "absl/strings/str_cat.h"
#include "server/names.h"

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

absl::Status CheckPeer(const Caller& caller, absl::string_view peer) {
  if (caller.is_own_worker == IsLocalWorker(peer)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      caller.is_own_worker
          ? absl::StrCat("this server has started no ", PeerName(peer))
          : absl::StrCat("the id of ", PeerName(peer),
                         " is for this server's own workers: give it another one"));
}

}  // namespace slipway::server
