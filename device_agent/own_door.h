// What an agent that listens without a server proves itself with, and its own user to it: made at the first start, as slipwayd makes its
// own, so that nobody has to set anything up.
#ifndef SLIPWAY_DEVICE_AGENT_OWN_DOOR_H_
#define SLIPWAY_DEVICE_AGENT_OWN_DOOR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace slipway {

// The file of the agent's identity in its state folder, which has its authority beside it; both are made where they are missing,
// the identity also when most of its time is over. Errors of core/identity/authority_file.h.
absl::StatusOr<std::string> KeepAgentIdentity(const std::string& state_folder, absl::Time now);

// The file of the identity by which this user calls the agent at `address`, where his commands look for it, kept in the same way. Who
// else shall call has a copy of it. REQUIRES: KeepAgentIdentity. Errors of IdentityPath and WriteIdentity.
absl::StatusOr<std::string> KeepUserIdentity(const std::string& state_folder,
                                             const std::string& address, absl::Time now);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_OWN_DOOR_H_
