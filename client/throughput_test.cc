#include "client/throughput.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(OfflineThroughput, IsThatOfAllOfTheTime) {
  std::vector<int64_t> ends;
  // Two instances end a group of 5 calls each, every 10 ms, a little apart.
  for (int64_t i = 1; i <= 500; ++i) {
    ends.push_back(i * 10'000'000);
    ends.push_back(i * 10'000'000 + 5'000'000);
  }
  const Estimate estimate = OfflineThroughput(ends, 5);
  EXPECT_NEAR(estimate.value, 1000, 2);
  ASSERT_TRUE(estimate.interval.has_value());
  EXPECT_LE(estimate.interval->low, 1001);
  EXPECT_GE(estimate.interval->high, 999);
  EXPECT_LT(estimate.interval->high - estimate.interval->low, 30);
}

TEST(OfflineThroughput, HasNoIntervalWhereLittleIsKnown) {
  const std::vector<int64_t> few = {5, 10, 15};
  EXPECT_DOUBLE_EQ(OfflineThroughput(few, 2).value, 6 / 15e-9);
  EXPECT_FALSE(OfflineThroughput(few, 2).interval.has_value());
  // All ended at once, as an agent may say.
  const std::vector<int64_t> one_end(100, 1000);
  EXPECT_FALSE(OfflineThroughput(one_end, 1).interval.has_value());
  const std::vector<int64_t> no_time(30, 0);
  EXPECT_TRUE(std::isfinite(OfflineThroughput(no_time, 1).value));
}

TEST(CallsPerSecond, Divides) { EXPECT_DOUBLE_EQ(CallsPerSecond(10, absl::Seconds(4)), 2.5); }

}  // namespace
}  // namespace slipway
