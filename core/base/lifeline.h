// The lifeline: how a child learns that the process that started it has ended.
#ifndef SLIPWAY_CORE_BASE_LIFELINE_H_
#define SLIPWAY_CORE_BASE_LIFELINE_H_

#include "absl/status/status.h"

namespace slipway {

// The environment variable by which Subprocess (with follow_parent) hands over the descriptor whose
// end of file means the end of the parent.
inline constexpr char kLifelineVariable[] = "SLIPWAY_LIFELINE_FD";

// From now on this process ends with its parent: it gets a SIGTERM, and if it is still there 5
// seconds later, it and its group get a SIGKILL. Does nothing in a process that was not started so.
// Call once, early in main, before threads exist. INVALID_ARGUMENT when the variable is nonsense.
absl::Status FollowParent();

// Whatever this process executes next in its own place can follow the parent too, as if it had been started so.
void PassLifelineOn();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_LIFELINE_H_
