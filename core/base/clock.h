// Clock: the only source of time for code that tests must be able to steer.
#ifndef SLIPWAY_CORE_BASE_CLOCK_H_
#define SLIPWAY_CORE_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace slipway {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall-clock time, UTC; may jump.
  virtual absl::Time Now() const = 0;
  // Time since an arbitrary fixed point on the monotonic clock; never goes back. All durations
  // are differences of this.
  virtual absl::Duration Monotonic() const = 0;
};

// The machine's own clocks.
class SystemClock final : public Clock {
 public:
  absl::Time Now() const override;
  absl::Duration Monotonic() const override;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_CLOCK_H_
