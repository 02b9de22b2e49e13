#include "core/base/clock.h"

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(SystemClockTest, ShowsTheMachinesClocks) {
  const SystemClock clock;
  const absl::Time before = absl::Now();
  const absl::Time now = clock.Now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, absl::Now());
  const absl::Duration first = clock.Monotonic();
  EXPECT_GT(first, absl::ZeroDuration());
  EXPECT_LE(first, clock.Monotonic());
}

}  // namespace
}  // namespace slipway
