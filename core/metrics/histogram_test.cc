#include "core/metrics/histogram.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;

constexpr std::array<double, 2> kBounds = {0.01, 1};

TEST(DurationHistogramTest, CountsByTheFirstBoundThatIsNotBelow) {
  DurationHistogram histogram(kBounds);
  histogram.Add(absl::Milliseconds(10));
  histogram.Add(absl::Milliseconds(11));
  histogram.Add(absl::Seconds(1));
  histogram.Add(absl::Seconds(3));
  const HistogramCounts read = histogram.Read();
  EXPECT_THAT(read.bounds, ElementsAre(0.01, 1));
  EXPECT_THAT(read.counts, ElementsAre(1, 2, 1));
  EXPECT_NEAR(read.sum, 4.021, 1e-9);
}

TEST(DurationHistogramTest, TakesATimeThatWentBackForNone) {
  DurationHistogram histogram(kBounds);
  histogram.Add(absl::Seconds(-5));
  EXPECT_THAT(histogram.Read().counts, ElementsAre(1, 0, 0));
  EXPECT_EQ(histogram.Read().sum, 0);
}

TEST(DurationHistogramTest, LosesNothingOfSeveralThreads) {
  DurationHistogram histogram(kBounds);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&histogram] {
      for (int i = 0; i < 10'000; ++i) histogram.Add(absl::Milliseconds(i % 2 == 0 ? 5 : 500));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(histogram.Read().counts, ElementsAre(20'000, 20'000, 0));
  EXPECT_NEAR(histogram.Read().sum, 20'000 * 0.505, 1e-6);
}

}  // namespace
}  // namespace slipway
