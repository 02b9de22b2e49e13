// RunFanOut: does what a FanOut says, with a thread for each compilation and each job.
#ifndef SLIPWAY_CLIENT_RUN_FAN_OUT_H_
#define SLIPWAY_CLIENT_RUN_FAN_OUT_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/fan_out.h"
#include "core/base/digest.h"

namespace slipway {

// How often it is looked which devices are available.
inline constexpr absl::Duration kFanOutLookEvery = absl::Seconds(5);

// Both block, and are called by several threads at once.
struct FanOutWork {
  // The artifact for a target, at the server. CANCELLED after Client::Interrupt; what was begun for it is then cancelled.
  std::function<absl::StatusOr<Digest>(const std::string& target)> compile;
  // The id of an accepted benchmark.
  std::function<absl::StatusOr<std::string>(const std::string& device, const Digest& artifact)>
      submit;
};

// Until every device has ended. `observer` is called after each change, by the calling thread. CANCELLED after Client::Interrupt, when every job that
// was open is cancelled; the message says which could not be.
absl::Status RunFanOut(Client& client, FanOut& fan_out, const FanOutWork& work,
                       const std::function<void(const FanOut&)>& observer,
                       absl::Duration look_every = kFanOutLookEvery);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_RUN_FAN_OUT_H_
