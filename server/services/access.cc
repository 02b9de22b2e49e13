#include "server/services/access.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
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

// Of a peer or device; `what` is what the message calls it.
absl::Status CheckId(const Caller& caller, absl::string_view what, absl::string_view id,
                     const Identities& identities) {
  if (!caller.identity.empty() && !caller.is_own_user) {
    absl::string_view rest = id;
    if (absl::ConsumePrefix(&rest, caller.owner) && (rest.empty() || rest.front() == '.')) {
      return absl::OkStatus();
    }
    return absl::PermissionDeniedError(
        absl::StrCat("who has joined as '", caller.owner, "' may not be ", what, ": call it '",
                     caller.owner, "' (--id), or '", caller.owner, ".' and what you like"));
  }
  const absl::optional<std::string> name = identities.NameCovering(id);
  if (!name.has_value()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(what, " can only be who has joined as '", *name,
                                                  "': give it another id (--id), or shut '", *name,
                                                  "' out (slipwayd revoke ", *name, ")"));
}

}  // namespace

absl::Status CheckAccess(const Caller& caller, Rpc rpc) {
  const AccessRow& row = RowOf(rpc);
  if (caller.roles.HasAnyOf(row.roles)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "'", caller.owner, "' is not ", row.roles.ToString(" or "), ", as ", row.method, " wants"));
}

absl::Status CheckPeer(const Caller& caller, absl::string_view peer, const Identities& identities) {
  if (caller.is_own_worker != IsLocalWorker(peer)) {
    return absl::PermissionDeniedError(
        caller.is_own_worker
            ? absl::StrCat("this server has started no ", PeerName(peer))
            : absl::StrCat("the id of ", PeerName(peer),
                           " is for this server's own workers: give it another one"));
  }
  if (caller.is_own_worker) return absl::OkStatus();
  return CheckId(caller, PeerName(peer), IdOfKey(peer), identities);
}

absl::Status CheckDevice(const Caller& caller, absl::string_view device,
                         const Identities& identities) {
  return CheckId(caller, absl::StrCat("device '", device, "'"), device, identities);
}

}  // namespace slipway::server
