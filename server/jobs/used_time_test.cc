#include "server/jobs/used_time.h"

#include <gtest/gtest.h>

namespace slipway::server {
namespace {

constexpr absl::Duration kWindow = absl::Hours(24);
constexpr absl::Duration kPart = absl::Seconds(864);

class UsedTimeTest : public ::testing::Test {
 protected:
  // At the beginning of a part.
  const absl::Time now_ = absl::UnixEpoch() + 2'000'000 * kPart;
  UsedTime used_{kWindow};
};

TEST_F(UsedTimeTest, IsTheSumOfAnOwners) {
  used_.Add("ada", now_, absl::Seconds(5));
  used_.Add("ada", now_ - absl::Hours(3), absl::Seconds(7));
  used_.Add("bob", now_, absl::Seconds(1));
  EXPECT_EQ(used_.Of("ada", now_), absl::Seconds(12));
  EXPECT_EQ(used_.Of("bob", now_), absl::Seconds(1));
  EXPECT_EQ(used_.Of("eve", now_), absl::ZeroDuration());
}

TEST_F(UsedTimeTest, LeavesTheWindow) {
  used_.Add("ada", now_, absl::Seconds(5));
  EXPECT_EQ(used_.Of("ada", now_ + kWindow), absl::Seconds(5));
  EXPECT_EQ(used_.Of("ada", now_ + kWindow + kPart), absl::ZeroDuration());
  used_.Forget(now_ + kWindow);
  EXPECT_EQ(used_.Of("ada", now_), absl::Seconds(5));
  used_.Forget(now_ + kWindow + kPart);
  EXPECT_EQ(used_.Of("ada", now_), absl::ZeroDuration());
}

TEST_F(UsedTimeTest, TellsWhenThereIsRoom) {
  used_.Add("ada", now_, absl::Seconds(5));
  used_.Add("ada", now_ + absl::Hours(1), absl::Seconds(5));
  const absl::Time later = now_ + absl::Hours(2);
  EXPECT_EQ(used_.WhenBelow("ada", absl::Seconds(11), later), later);
  const absl::Time first = used_.WhenBelow("ada", absl::Seconds(10), later);
  EXPECT_EQ(first, now_ + kWindow + kPart);
  EXPECT_LT(used_.Of("ada", first), absl::Seconds(10));
  EXPECT_GE(used_.Of("ada", first - absl::Nanoseconds(1)), absl::Seconds(10));
  EXPECT_EQ(used_.WhenBelow("ada", absl::ZeroDuration(), later), absl::InfiniteFuture());
  EXPECT_EQ(used_.WhenBelow("eve", absl::ZeroDuration(), later), absl::InfiniteFuture());
  const absl::Time all = used_.WhenBelow("ada", absl::Seconds(5), later);
  EXPECT_LT(used_.Of("ada", all), absl::Seconds(5));
  EXPECT_GE(used_.Of("ada", all - absl::Nanoseconds(1)), absl::Seconds(5));
}

}  // namespace
}  // namespace slipway::server
