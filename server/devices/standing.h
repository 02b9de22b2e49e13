// The standing of a device: whether it is given work, and what changes that.
//
// Pure: a standing and an event give the next one. Who acts on it, when and where, stands elsewhere.
#ifndef SLIPWAY_SERVER_DEVICES_STANDING_H_
#define SLIPWAY_SERVER_DEVICES_STANDING_H_

#include <cstddef>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "server/devices/device_record.pb.h"

namespace slipway::server {

// An administrator keeps the device from work,
struct DrainAsked {
  std::string by;
  std::string reason;
};
// and does so no more.
struct UndrainAsked {};

// An administrator doubts the device,
struct QuarantineAsked {
  std::string by;
  std::string reason;
};
// and does so no more.
struct UnquarantineAsked {};

// An attempt on the device ended as it should have.
struct DeviceWorked {};

// An attempt ended for which the device is to blame. `limit` failures in a row put it in quarantine, 0: none do. The same
// for ProbeFailed.
struct DeviceFailed {
  std::string job;
  std::string why;
  int limit = 0;
};

// The device computed what it should have, a call took so long; what that means is JudgeCall's.
struct ProbePassed {
  absl::Duration call;
};
struct ProbeFailed {
  std::string why;
  int limit = 0;
};

// It is another device by the same name, or its agent another program: what was found out about it is out of date.
struct DeviceChanged {};

using StandingEvent =
    std::variant<DrainAsked, UndrainAsked, QuarantineAsked, UnquarantineAsked, DeviceWorked,
                 DeviceFailed, ProbePassed, ProbeFailed, DeviceChanged>;
inline constexpr size_t kStandingEventKinds = std::variant_size_v<StandingEvent>;

// What an event does to a device in a state.
enum class StandingRule {
  kRefused,  // FAILED_PRECONDITION.
  kStay,     // Nothing.
  kMove,     // The standing changes.
};

// The table. `event` is an index of StandingEvent.
StandingRule StandingRuleFor(DeviceStanding::State state, size_t event);

// The standing after `event`; its revision is left as it is. FAILED_PRECONDITION when the table refuses it, naming
// device and state, and what to do.
absl::StatusOr<DeviceStanding> ApplyToStanding(const DeviceStanding& standing,
                                               const StandingEvent& event, absl::Time now);

// How long a call of a probe takes usually; nothing as long as too few have passed.
absl::optional<absl::Duration> UsualCall(const DeviceStanding& standing);
// OK if a call that took so long is like those before; ABORTED, with both times, when it is far from them.
absl::Status JudgeCall(const DeviceStanding& standing, absl::Duration call);

// "open", "drained", "in quarantine".
absl::string_view StandingName(DeviceStanding::State state);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_STANDING_H_
