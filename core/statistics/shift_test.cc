// Known values are by scipy 1.17: ranks from the exact distribution of mannwhitneyu.
#include "core/statistics/shift.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "core/statistics/autocorrelation.h"
#include "core/statistics/median.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

const std::vector<double> kFrom = {3.1, 2.7, 4.4, 1.2, 5.0, 2.2, 3.3, 2.8, 8.9, 3.0, 4.1, 3.7};
const std::vector<double> kTo = {6.1, 3.4, 7.0, 4.9, 5.5, 5.2};

TEST(MedianTest, OfAnEvenNumberIsBetweenTheMiddleTwo) {
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(Median({9, 1, 4}), 4);
  EXPECT_EQ(Median({9, 1, 4, 6}), 5);
}

TEST(MedianTest, SpreadIsTheDeviationOfManyNormalValuesWhateverAFewAre) {
  EXPECT_NEAR(MedianSpread(kFrom), 1.4826 * 0.7, 1e-12);
  EXPECT_EQ(MedianSpread({5}), 0);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(10, 2);
  std::vector<double> values(10'000);
  for (double& value : values) value = normal(random);
  for (size_t i = 0; i < 500; ++i) values[i] = 1e9;
  EXPECT_NEAR(MedianSpread(values), 2, 0.2);
}

TEST(ShiftTest, IsTheMedianOfAllDifferencesBetweenKnownRanks) {
  const Estimate narrow = EstimateShift(kFrom, kTo, 0.95);
  EXPECT_NEAR(narrow.value, 2.05, 1e-12);
  ASSERT_TRUE(narrow.interval.has_value());
  EXPECT_NEAR(narrow.interval->low, 0.4, 1e-12);
  EXPECT_NEAR(narrow.interval->high, 3.3, 1e-12);
  const Estimate wide = EstimateShift(kFrom, kTo, 0.99);
  ASSERT_TRUE(wide.interval.has_value());
  EXPECT_NEAR(wide.interval->low, -0.3, 1e-12);
  EXPECT_NEAR(wide.interval->high, 3.9, 1e-12);
}

// Powers of two, all of whose differences are different. Every other one from the other end, so that they show no
// dependence.
std::vector<double> Alternating(size_t count, double first) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(std::exp2(static_cast<double>(i % 2 == 0 ? i / 2 : count - 1 - i / 2)) *
                     first);
  }
  return values;
}

// Counts, of all orders of both samples, those with fewer than k pairs in the wrong order.
size_t RankByCounting(size_t from, size_t to, double tail) {
  std::vector<double> orders(from * to + 1);
  double all = 0;
  for (unsigned order = 0; order < 1u << (from + to); ++order) {
    if (static_cast<size_t>(std::popcount(order)) != to) continue;
    size_t pairs = 0;
    size_t below = 0;
    for (size_t i = 0; i < from + to; ++i) {
      if ((order >> i & 1) != 0) {
        ++below;
      } else {
        pairs += below;
      }
    }
    ++orders[pairs];
    ++all;
  }
  size_t k = 0;
  for (double sum = orders[0]; k < orders.size() && sum <= tail * all; sum += orders[k]) ++k;
  return k;
}

TEST(ShiftTest, RanksAreThoseOfAllOrdersCounted) {
  for (size_t m = 1; m <= 9; ++m) {
    for (size_t n = 1; n <= 7; ++n) {
      const std::vector<double> from = Alternating(m, 1);
      const std::vector<double> to = Alternating(n, std::sqrt(2.0));
      std::vector<double> differences;
      for (const double a : from) {
        for (const double b : to) differences.push_back(b - a);
      }
      std::sort(differences.begin(), differences.end());
      for (const double confidence : {0.7, 0.93, 0.99}) {
        const size_t k = RankByCounting(m, n, (1 - confidence) / 2);
        const Estimate estimate = EstimateShift(from, to, confidence);
        ASSERT_EQ(estimate.interval.has_value(), k > 0) << m << " " << n << " " << confidence;
        EXPECT_EQ(k > 0,
                  SamplesForShift(static_cast<int64_t>(m), confidence) <= static_cast<int64_t>(n));
        if (k == 0) continue;
        EXPECT_EQ(estimate.interval->low, differences[k - 1]) << m << " " << n;
        EXPECT_EQ(estimate.interval->high, differences[differences.size() - k]);
      }
    }
  }
}

TEST(ShiftTest, OfManySamplesRanksAreKnown) {
  const auto whole = [](size_t count) {
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<double>(i % 2 == 0 ? i / 2 : count - 1 - i / 2));
    }
    return values;
  };
  // The 3,949th of all differences.
  const Estimate estimate = EstimateShift(whole(100), whole(100), 0.99);
  EXPECT_EQ(estimate.value, 0);
  ASSERT_TRUE(estimate.interval.has_value());
  EXPECT_EQ(estimate.interval->low, -11);
  EXPECT_EQ(estimate.interval->high, 11);
}

TEST(ShiftTest, NeedsAsManySamplesAsMakeItNoChance) {
  EXPECT_EQ(SamplesForShift(20, 0.99), 2);
  EXPECT_EQ(SamplesForShift(10, 0.99), 3);
  EXPECT_EQ(SamplesForShift(8, 0.99), 4);
  EXPECT_EQ(SamplesForShift(5, 0.99), 5);
  EXPECT_EQ(SamplesForShift(1, 0.99), 199);
}

TEST(ShiftTest, MovesWithItsSamplesAndTurnsWhenTheyAreExchanged) {
  const Estimate estimate = EstimateShift(kFrom, kTo, 0.99);
  std::vector<double> moved = kTo;
  for (double& value : moved) value += 16;
  const Estimate further = EstimateShift(kFrom, moved, 0.99);
  EXPECT_NEAR(further.value, estimate.value + 16, 1e-12);
  EXPECT_NEAR(further.interval->low, estimate.interval->low + 16, 1e-12);
  EXPECT_NEAR(further.interval->high, estimate.interval->high + 16, 1e-12);
  const Estimate back = EstimateShift(kTo, kFrom, 0.99);
  EXPECT_NEAR(back.value, -estimate.value, 1e-12);
  EXPECT_NEAR(back.interval->low, -estimate.interval->high, 1e-12);
  EXPECT_NEAR(back.interval->high, -estimate.interval->low, 1e-12);
}

TEST(ShiftTest, AFewThatAreFarOutDoNotMoveIt) {
  std::vector<double> from = kFrom;
  from[3] = 1e6;
  std::vector<double> to = kTo;
  to[2] = 1e9;
  const Estimate estimate = EstimateShift(from, to, 0.95);
  EXPECT_NEAR(estimate.value, 2.05, 0.5);
  EXPECT_GT(estimate.interval->low, -1);
}

// How often it is missed, at a confidence of 0.95, when both samples are drawn by `next`.
template <typename Next>
double Missed(size_t from, size_t to, Next next) {
  constexpr int kTimes = 2000;
  int missed = 0;
  for (int i = 0; i < kTimes; ++i) {
    std::vector<double> a(from), b(to);
    for (double& value : a) value = next();
    for (double& value : b) value = next() + 3;
    const Estimate estimate = EstimateShift(a, b, 0.95);
    if (!estimate.interval.has_value()) continue;
    missed += estimate.interval->low > 3 || estimate.interval->high < 3;
  }
  return missed / static_cast<double>(kTimes);
}

TEST(ShiftTest, HoldsTheTruthAsOftenAsItSaysWhateverTheDistribution) {
  std::mt19937_64 random(5);
  std::cauchy_distribution<double> cauchy;
  std::lognormal_distribution<double> skewed(0, 2);
  EXPECT_LE(Missed(15, 5, [&] { return cauchy(random); }), 0.06);
  EXPECT_LE(Missed(15, 5, [&] { return skewed(random); }), 0.06);
  // Two modes, one of them rare.
  EXPECT_LE(Missed(12, 4, [&] { return (random() % 10 == 0 ? 20 : 0) + cauchy(random); }), 0.06);
}

TEST(ShiftTest, SamplesThatDependOnEachOtherCountAsFewer) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  double last = 0;
  const auto next = [&] { return last = 0.8 * last + 0.6 * normal(random); };
  // Five times as often as independent ones if all counted.
  EXPECT_LE(Missed(40, 20, next), 0.12);
  std::vector<double> rising;
  for (int i = 0; i < 20; ++i) rising.push_back(i);
  ASSERT_GT(Inefficiency(rising), 4);
  EXPECT_FALSE(EstimateShift(rising, {50, 51, 52}, 0.99).interval.has_value());
  EXPECT_FALSE(EstimateShift({50, 51, 50, 51}, rising, 0.99).interval.has_value());
}

}  // namespace
}  // namespace slipway
