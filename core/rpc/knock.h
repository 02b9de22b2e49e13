// The caller's side of the join door (join_door.h).
#ifndef SLIPWAY_CORE_RPC_KNOCK_H_
#define SLIPWAY_CORE_RPC_KNOCK_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway {

struct JoinDoorAnswer {
  std::string answer;
  std::string authority;  // PEM: the certificate of the server's authority.
};

// The other side: sends `request` to the server at HOST:PORT if its authority is the one that `authority` (join_code.h) stands for; nothing
// otherwise. An empty request asks for the authority alone, and gets an empty answer. UNAVAILABLE when nobody answers, or not by `deadline`; PERMISSION_DENIED when it is another authority's
// server.
absl::StatusOr<JoinDoorAnswer> KnockAtJoinDoor(const std::string& address,
                                               absl::string_view authority,
                                               absl::string_view request, absl::Time deadline);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_KNOCK_H_
