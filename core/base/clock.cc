#include "core/base/clock.h"

#include <time.h>

#include "absl/time/clock.h"

namespace slipway {

absl::Time SystemClock::Now() const { return absl::Now(); }

absl::Duration SystemClock::Monotonic() const {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);  // Cannot fail: Linux always has this clock.
  return absl::DurationFromTimespec(now);
}

}  // namespace slipway
