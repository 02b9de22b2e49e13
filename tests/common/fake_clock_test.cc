#include "tests/common/fake_clock.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(FakeClockTest, MovesOnlyWhenTold) {
  FakeClock clock;
  EXPECT_EQ(absl::FormatTime(clock.Now(), absl::UTCTimeZone()), "2026-01-01T00:00:00+00:00");
  EXPECT_EQ(clock.Monotonic(), absl::ZeroDuration());
  const absl::Time start = clock.Now();
  clock.Advance(absl::Seconds(90));
  EXPECT_EQ(clock.Now() - start, absl::Seconds(90));
  EXPECT_EQ(clock.Monotonic(), absl::Seconds(90));
}

TEST(FakeClockTest, WallClockJumpsAlone) {
  FakeClock clock;
  clock.JumpTo(absl::UnixEpoch());
  EXPECT_EQ(clock.Now(), absl::UnixEpoch());
  EXPECT_EQ(clock.Monotonic(), absl::ZeroDuration());
}

}  // namespace
}  // namespace slipway
