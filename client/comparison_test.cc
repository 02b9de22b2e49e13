#include "client/comparison.h"

#include <cmath>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

// Two programs whose calls take what a test says, of which a sample has ten.
class ComparisonTest : public ::testing::Test {
 protected:
  absl::StatusOr<Comparison> Compare(const ComparisonOptions& options = {}) {
    return ComparePrograms(
        [this](absl::Span<const Side> order, int samples) { return Time(order, samples); }, options,
        clock_);
  }

  absl::StatusOr<std::vector<BenchmarkResult>> Time(absl::Span<const Side> order, int samples) {
    if (fail_at_ == static_cast<int>(orders_.size())) return absl::AbortedError("crashed");
    std::string text;
    std::vector<BenchmarkResult> blocks;
    for (const Side side : order) {
      text += side == Side::kA ? 'A' : 'B';
      BenchmarkResult& block = blocks.emplace_back();
      block.iterations_per_sample = 10;
      for (int i = 0; i < samples; ++i) {
        const int64_t ns = ns_(side);
        block.samples_ns.push_back(ns);
        clock_.Advance(absl::Nanoseconds(ns));
      }
    }
    orders_.push_back(text);
    samples_.push_back(samples);
    return blocks;
  }

  FakeClock clock_;
  std::function<int64_t(Side)> ns_ = [](Side) { return 2'000'000; };
  int fail_at_ = -1;
  std::vector<std::string> orders_;
  std::vector<int> samples_;
};

TEST_F(ComparisonTest, TheSameIsSameAsSoonAsThereIsAnInterval) {
  ASSERT_OK_AND_ASSIGN(const Comparison result, Compare());
  EXPECT_EQ(result.verdict, Verdict::kSame);
  EXPECT_TRUE(result.is_certain);
  EXPECT_EQ(result.ratio.value, 1);
  EXPECT_EQ(result.cycles, 8);
  EXPECT_EQ(result.a_ns, 200'000);
  EXPECT_EQ(result.b_ns, 200'000);
  // One to find out how long a sample is, then cycles.
  ASSERT_EQ(orders_.size(), 17u);
  EXPECT_EQ(samples_[0], 1);
  EXPECT_EQ(samples_[1], 10);
  EXPECT_EQ(orders_[1], "ABBA");
  EXPECT_EQ(orders_[2], "BAAB");
  EXPECT_EQ(orders_[3], "ABBA");
}

TEST_F(ComparisonTest, TellsWhichIsFaster) {
  ns_ = [](Side side) { return side == Side::kA ? 1'000'000 : 1'030'000; };
  ASSERT_OK_AND_ASSIGN(const Comparison worse, Compare());
  EXPECT_EQ(worse.verdict, Verdict::kWorse);
  EXPECT_TRUE(worse.is_certain);
  EXPECT_NEAR(worse.ratio.value, 1.03, 1e-9);
  EXPECT_EQ(worse.b_ns, 103'000);
  ns_ = [](Side side) { return side == Side::kB ? 1'000'000 : 1'030'000; };
  ASSERT_OK_AND_ASSIGN(const Comparison better, Compare());
  EXPECT_EQ(better.verdict, Verdict::kBetter);
  EXPECT_NEAR(better.ratio.value, 1 / 1.03, 1e-9);
  // Within a margin that is wide enough they are the same.
  ASSERT_OK_AND_ASSIGN(const Comparison same, Compare({.margin = 0.05}));
  EXPECT_EQ(same.verdict, Verdict::kSame);
  EXPECT_TRUE(same.is_certain);
}

TEST_F(ComparisonTest, ASteadyDriftCancelsOut) {
  // A machine that becomes slower by 1 % with every 8 samples.
  double slowness = 1;
  ns_ = [&](Side) {
    slowness *= 1 + 0.01 / 8;
    return static_cast<int64_t>(20'000'000 * slowness);
  };
  ASSERT_OK_AND_ASSIGN(const Comparison result, Compare());
  EXPECT_EQ(result.verdict, Verdict::kSame);
  EXPECT_NEAR(result.ratio.value, 1, 1e-4);
}

TEST_F(ComparisonTest, WhatCannotBeToldInTimeIsNotCertain) {
  // The ratio of each cycle is another, up to a third above 1 and below.
  ns_ = [this](Side side) {
    const double cycle = static_cast<double>((orders_.size() + 1) / 2);
    return static_cast<int64_t>(side == Side::kA ? 1e7
                                                 : 1e7 * std::exp(0.3 * std::sin(1.7 * cycle)));
  };
  ASSERT_OK_AND_ASSIGN(const Comparison result, Compare({.limit = absl::Seconds(10)}));
  EXPECT_EQ(result.verdict, Verdict::kSame);
  EXPECT_FALSE(result.is_certain);
  EXPECT_NEAR(result.lag1_autocorrelation, std::cos(1.7), 0.1);
  EXPECT_GE(clock_.Monotonic(), absl::Seconds(10));
  EXPECT_LE(clock_.Monotonic(), absl::Seconds(11));
  // Enough cycles for an interval there are in any case.
  ASSERT_OK_AND_ASSIGN(const Comparison least, Compare({.limit = absl::ZeroDuration()}));
  EXPECT_EQ(least.cycles, 8);
  EXPECT_TRUE(least.ratio.interval.has_value());
}

TEST_F(ComparisonTest, LongCallsAreTimedOneByOne) {
  ns_ = [](Side) { return 300'000'000; };
  ASSERT_OK(Compare());
  EXPECT_EQ(samples_[1], 1);
  ns_ = [](Side) { return 0; };
  ASSERT_OK_AND_ASSIGN(const Comparison result, Compare());
  EXPECT_EQ(samples_.back(), 20);
  EXPECT_EQ(result.verdict, Verdict::kSame);
}

TEST_F(ComparisonTest, ErrorsEndIt) {
  for (const int at : {0, 1, 2, 9}) {
    orders_.clear();
    fail_at_ = at;
    EXPECT_THAT(Compare(), StatusIs(absl::StatusCode::kAborted)) << at;
  }
}

}  // namespace
}  // namespace slipway
