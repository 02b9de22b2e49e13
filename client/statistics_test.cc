#include "client/statistics.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(StatisticsTest, PercentilesByNearestRank) {
  std::vector<int64_t> samples(100);
  std::iota(samples.rbegin(), samples.rend(), 1);  // 100, 99, ..., 1
  const SampleStatistics s = Summarize(samples, 1);
  EXPECT_EQ(s.min_ns, 1);
  EXPECT_EQ(s.p50_ns, 50);
  EXPECT_EQ(s.p90_ns, 90);
  EXPECT_EQ(s.p99_ns, 99);
}

TEST(StatisticsTest, CallsOfASample) {
  const SampleStatistics s = Summarize({30, 10}, 4);
  EXPECT_EQ(s.min_ns, 2.5);
  EXPECT_EQ(s.p50_ns, 2.5);
  EXPECT_EQ(s.p90_ns, 7.5);
}

TEST(StatisticsTest, FewSamplesHaveNoP99) {
  EXPECT_FALSE(Summarize(std::vector<int64_t>(99, 5), 1).p99_ns.has_value());
  EXPECT_EQ(Summarize({7}, 1).p90_ns, 7);
}

}  // namespace
}  // namespace slipway
