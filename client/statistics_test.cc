#include "client/statistics.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::IsEmpty;

// 1 to n, in an order that says nothing.
std::vector<int64_t> Shuffled(int n) {
  std::vector<int64_t> samples(static_cast<size_t>(n));
  std::iota(samples.begin(), samples.end(), 1);
  std::shuffle(samples.begin(), samples.end(), std::mt19937_64(5));
  return samples;
}

TEST(StatisticsTest, PercentilesByNearestRank) {
  const SampleStatistics s = Summarize(Shuffled(1000), 1);
  EXPECT_EQ(s.min_ns, 1);
  EXPECT_EQ(s.p50_ns.value, 500);
  ASSERT_TRUE(s.p90_ns.has_value() && s.p99_ns.has_value());
  EXPECT_EQ(s.p90_ns->value, 900);
  EXPECT_EQ(s.p99_ns->value, 990);
  EXPECT_GT(s.p99_ns->interval->low, 970);
  EXPECT_THAT(Remarks(s), IsEmpty());
}

TEST(StatisticsTest, CallsOfASample) {
  const SampleStatistics s = Summarize({30, 10}, 4);
  EXPECT_EQ(s.min_ns, 2.5);
  EXPECT_EQ(s.p50_ns.value, 2.5);
  EXPECT_FALSE(s.p50_ns.interval.has_value());
}

TEST(StatisticsTest, PercentilesThatTheSampleDoesNotSupportAreAbsent) {
  const SampleStatistics s = Summarize(Shuffled(200), 1);
  EXPECT_TRUE(s.p50_ns.interval.has_value());
  EXPECT_TRUE(s.p90_ns.has_value());
  EXPECT_FALSE(s.p99_ns.has_value());
  EXPECT_FALSE(Summarize({7}, 1).p90_ns.has_value());
}

TEST(StatisticsTest, RemarksOnDependenceAndModes) {
  // A machine that changes its clock every now and then.
  std::vector<int64_t> samples;
  std::mt19937_64 random(6);
  for (int i = 0; i < 400; ++i) {
    const int64_t mode = i / 20 % 4 == 3 ? 1'495'000 : 995'000;
    samples.push_back(mode + static_cast<int64_t>(random() % 10'000));
  }
  const SampleStatistics s = Summarize(samples, 1);
  EXPECT_GT(s.lag1_autocorrelation, 0.8);
  EXPECT_LT(s.effective_samples, 100);
  ASSERT_EQ(Remarks(s).size(), 2u);
  EXPECT_THAT(Remarks(s)[0], ::testing::StartsWith("samples depend on each other (lag-1 0.9)"));
  EXPECT_EQ(Remarks(s)[1], "two modes: about 1.00 ms, and 1.50 ms in 25 % of the samples");
  // Modes that are next to each other are of no interest.
  for (int64_t& sample : samples) {
    if (sample > 1'400'000) sample -= 495'000;
  }
  EXPECT_FALSE(Summarize(samples, 1).modes.has_value());
}

}  // namespace
}  // namespace slipway
