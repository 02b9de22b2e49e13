#include "core/base/awake_clock.h"

#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"

namespace slipway {
namespace {

class AwakeClockTest : public ::testing::Test {
 protected:
  // As somebody reads it who is awake.
  void Pass(absl::Duration time) {
    for (; time > AwakeClock::kReadEvery; time -= AwakeClock::kReadEvery) {
      machine_.Advance(AwakeClock::kReadEvery);
      clock_.Monotonic();
    }
    machine_.Advance(time);
  }

  FakeClock machine_;
  AwakeClock clock_{&machine_};
};

TEST_F(AwakeClockTest, GoesWithTheOtherWhileItIsRead) {
  Pass(absl::Seconds(60));
  EXPECT_EQ(clock_.Monotonic(), machine_.Monotonic());
  EXPECT_EQ(clock_.Now(), machine_.Now());
  machine_.Advance(AwakeClock::kAsleep);
  EXPECT_EQ(clock_.Monotonic(), machine_.Monotonic());
  EXPECT_FALSE(clock_.is_catching_up());
}

TEST_F(AwakeClockTest, StandsStillWhileAsleepAndUntilWhatCameIsRead) {
  Pass(absl::Seconds(60));
  const absl::Duration before = clock_.Monotonic();
  machine_.Advance(absl::Hours(1));
  EXPECT_EQ(clock_.Monotonic(), before);
  EXPECT_TRUE(clock_.is_catching_up());
  // The wall clock is everybody's.
  EXPECT_EQ(clock_.Now(), machine_.Now());
  Pass(AwakeClock::kCatchUp - absl::Milliseconds(1));
  EXPECT_EQ(clock_.Monotonic(), before);
  EXPECT_TRUE(clock_.is_catching_up());
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(clock_.Monotonic(), before);
  EXPECT_FALSE(clock_.is_catching_up());
  Pass(absl::Seconds(5));
  EXPECT_EQ(clock_.Monotonic(), before + absl::Seconds(5));
}

TEST_F(AwakeClockTest, CatchesUpFromTheLastSleep) {
  Pass(absl::Seconds(1));
  const absl::Duration before = clock_.Monotonic();
  for (int i = 0; i < 3; ++i) {
    machine_.Advance(absl::Minutes(1));
    EXPECT_TRUE(clock_.is_catching_up());
    Pass(AwakeClock::kCatchUp / 2);
  }
  EXPECT_EQ(clock_.Monotonic(), before);
  Pass(AwakeClock::kCatchUp);
  EXPECT_EQ(clock_.Monotonic(), before + AwakeClock::kCatchUp / 2);
}

TEST_F(AwakeClockTest, CountsThePartOfAReadThatComesAfterCatchingUp) {
  machine_.Advance(absl::Minutes(1));
  const absl::Duration before = clock_.Monotonic();
  Pass(AwakeClock::kCatchUp - absl::Milliseconds(100));
  clock_.Monotonic();
  machine_.Advance(absl::Milliseconds(300));
  EXPECT_EQ(clock_.Monotonic(), before + absl::Milliseconds(200));
}

}  // namespace
}  // namespace slipway
