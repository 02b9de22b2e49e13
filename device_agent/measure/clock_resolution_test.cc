#include "device_agent/measure/clock_resolution.h"

#include <algorithm>
#include <limits>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(ClockResolutionTest, NothingCloserIsToldApart) {
  const SystemClock clock;
  int64_t least_ns = std::numeric_limits<int64_t>::max();
  absl::Duration last = clock.Monotonic();
  for (int i = 0; i < 100'000; ++i) {
    const absl::Duration now = clock.Monotonic();
    if (now > last) least_ns = std::min(least_ns, absl::ToInt64Nanoseconds(now - last));
    last = now;
  }
  EXPECT_GE(ClockResolutionNs(), 1);
  EXPECT_GE(least_ns, ClockResolutionNs());
}

}  // namespace
}  // namespace slipway
