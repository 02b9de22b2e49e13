// How a child that Subprocess has started waits for its limits.
#ifndef SLIPWAY_CORE_BASE_AWAIT_LIMITS_H_
#define SLIPWAY_CORE_BASE_AWAIT_LIMITS_H_

namespace slipway {

// Returns when this process has the limits that its parent gives it (SubprocessOptions::waits_for_limits), so that what it
// starts, or who it becomes, has them too. Reads stdin to its end.
void AwaitLimits();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_AWAIT_LIMITS_H_
