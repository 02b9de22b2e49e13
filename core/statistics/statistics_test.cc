// Known values are by numpy 2.4, scipy 1.17 and diptest 0.12.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "core/statistics/autocorrelation.h"
#include "core/statistics/centre.h"
#include "core/statistics/modes.h"
#include "core/statistics/quantile.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

const std::vector<double> kTwelve = {3.1, 2.7, 4.4, 5.0, 1.2, 2.2, 3.3, 8.9, 2.8, 3.0, 3.7, 4.1};

// 1, 2, ..., n, shuffled so that neighbours have nothing to do with each other.
std::vector<double> Shuffled(int n) {
  std::vector<double> values;
  for (int i = 1; i <= n; ++i) values.push_back(i);
  std::shuffle(values.begin(), values.end(), std::mt19937_64(7));
  return values;
}

// Series that a seed makes the same each time.
class Series {
 public:
  explicit Series(uint64_t seed) : random_(seed) {}
  double Normal() { return normal_(random_); }
  double Share() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::vector<double> Make(size_t n, const std::function<double()>& next) {
    std::vector<double> series(n);
    for (double& value : series) value = next();
    return series;
  }
  // Deviation 1, each sample correlated with the next.
  std::vector<double> Correlated(size_t n, double correlation) {
    double last = Normal();
    return Make(n, [&] {
      return last = correlation * last + std::sqrt(1 - correlation * correlation) * Normal();
    });
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

bool Holds(const Estimate& estimate, double truth) {
  return estimate.interval.has_value() && estimate.interval->low <= truth &&
         truth <= estimate.interval->high;
}

TEST(AutocorrelationTest, OfOneLag) {
  EXPECT_NEAR(Lag1Autocorrelation(kTwelve), -0.10368550368550374, 1e-12);
  EXPECT_EQ(Lag1Autocorrelation({5, 5, 5, 5}), 0);
  EXPECT_EQ(Lag1Autocorrelation({1, 9}), 0);
  EXPECT_NEAR(Lag1Autocorrelation(Series(1).Correlated(5000, 0.6)), 0.6, 0.05);
}

TEST(AutocorrelationTest, InefficiencyIsWhatTheoryHasForChains) {
  // (1 + r) / (1 - r); of short series and of those whose batches are taken.
  for (const size_t n : {3000, 100'000}) {
    EXPECT_NEAR(Inefficiency(Series(2).Correlated(n, 0.6)), 4, 1) << n;
    EXPECT_NEAR(Inefficiency(Series(3).Correlated(n, 0.9)), 19, 7) << n;
    EXPECT_LT(Inefficiency(Series(4).Correlated(n, 0)), 1.3) << n;
  }
  EXPECT_EQ(Inefficiency(Series(5).Correlated(1000, -0.5)), 1);
  EXPECT_EQ(Inefficiency({4, 4, 4, 4}), 1);
  EXPECT_EQ(Inefficiency(std::vector<double>(9999, 4)), 1);
  EXPECT_EQ(Inefficiency({1, 2}), 1);
}

TEST(QuantileTest, RanksAreThoseOfTheBinomialDistribution) {
  // Samples that alternate count as independent ones.
  std::vector<double> alternating;
  for (int i = 1; i <= 50; ++i) alternating.insert(alternating.end(), {i * 1.0, i + 50.0});
  const Estimate exact = EstimateQuantile(alternating, 0.5);
  ASSERT_TRUE(exact.interval.has_value());
  EXPECT_EQ(exact.interval->low, 40);
  EXPECT_EQ(exact.interval->high, 61);
}

TEST(QuantileTest, AreSupportedByAsManySamplesAsTheyNeed) {
  EXPECT_EQ(SamplesForQuantile(0.5), 6);
  EXPECT_EQ(SamplesForQuantile(0.9), 36);
  EXPECT_EQ(SamplesForQuantile(0.99), 368);
  EXPECT_EQ(SamplesForQuantile(0.01), 368);
  // One above the quantile, among others, neither first nor last.
  const auto few_above = [](int n) {
    std::vector<double> series(static_cast<size_t>(n), 1);
    for (size_t i = 5; i < series.size(); i += 12) series[i] = 2;
    return series;
  };
  EXPECT_TRUE(EstimateQuantile(few_above(36), 0.9).interval.has_value());
  EXPECT_FALSE(EstimateQuantile(few_above(35), 0.9).interval.has_value());
  EXPECT_EQ(EstimateQuantile(few_above(35), 0.9).value, 1);
  EXPECT_EQ(EstimateQuantile({7}, 0.99).value, 7);
  EXPECT_FALSE(EstimateQuantile({7, 7, 7, 7, 7}, 0.5).interval.has_value());
  EXPECT_TRUE(EstimateQuantile({7, 7, 7, 7, 7, 7}, 0.5).interval.has_value());
  EXPECT_EQ(EstimateQuantile(Shuffled(100), 0.9).value, 90);
  EXPECT_EQ(EstimateQuantile(Shuffled(100), 0.99).value, 99);
}

TEST(QuantileTest, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int kRuns = 400;
  constexpr double kP90 = 1.2815515655446;  // Of a normal distribution.
  for (const double correlation : {0.0, 0.6, 0.9}) {
    Series series(11);
    int medians = 0;
    int p90s = 0;
    for (int i = 0; i < kRuns; ++i) {
      const std::vector<double> samples = series.Correlated(1000, correlation);
      medians += Holds(EstimateQuantile(samples, 0.5), 0);
      p90s += Holds(EstimateQuantile(samples, 0.9), kP90);
    }
    EXPECT_GE(medians, kRuns * 0.91) << correlation;
    EXPECT_GE(p90s, kRuns * 0.91) << correlation;
    // Nor are they wider than they must be.
    EXPECT_LE(medians, kRuns * 0.99) << correlation;
  }
}

TEST(CentreTest, KnownValues) {
  const Estimate estimate = EstimateCentre(kTwelve, 0.95);
  EXPECT_NEAR(estimate.value, 3.4, 1e-12);
  ASSERT_TRUE(estimate.interval.has_value());
  EXPECT_NEAR(estimate.interval->low, 2.65, 1e-12);
  EXPECT_NEAR(estimate.interval->high, 4.7, 1e-12);
  const Estimate surer = EstimateCentre(kTwelve, 0.99);
  ASSERT_TRUE(surer.interval.has_value());
  EXPECT_NEAR(surer.interval->low, 2.25, 1e-12);
  EXPECT_NEAR(surer.interval->high, 5.95, 1e-12);
  EXPECT_EQ(EstimateCentre({3}, 0.95).value, 3);
}

TEST(CentreTest, NeedsSomeSamples) {
  const std::vector<double> eight = {1, 8, 2, 7, 3, 6, 4, 5};
  EXPECT_TRUE(EstimateCentre(eight, 0.99).interval.has_value());
  const absl::Span<const double> all = eight;
  EXPECT_FALSE(EstimateCentre(all.first(7), 0.99).interval.has_value());
  EXPECT_TRUE(EstimateCentre(all.first(6), 0.95).interval.has_value());
  EXPECT_FALSE(EstimateCentre(all.first(5), 0.95).interval.has_value());
}

TEST(CentreTest, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int kRuns = 400;
  struct Case {
    size_t n;
    double correlation;
  };
  // Fewer that depend on each other show little of how much they do.
  for (const Case& c : {Case{12, 0}, Case{80, 0}, Case{80, 0.5}}) {
    Series series(12);
    int held = 0;
    for (int i = 0; i < kRuns; ++i) {
      held += Holds(EstimateCentre(series.Correlated(c.n, c.correlation), 0.95), 0);
    }
    EXPECT_GE(held, kRuns * 0.91) << c.n << " " << c.correlation;
    EXPECT_LE(held, kRuns * 0.99) << c.n << " " << c.correlation;
  }
}

TEST(CentreTest, AFewFarOutDoNotMoveIt) {
  Series series(13);
  std::vector<double> samples = series.Correlated(50, 0);
  const double before = EstimateCentre(samples, 0.99).value;
  for (size_t i = 0; i < samples.size(); i += 6) samples[i] += 1000;
  EXPECT_NEAR(EstimateCentre(samples, 0.99).value, before, 0.6);
}

TEST(ModesTest, KnownDips) {
  std::vector<double> sorted = kTwelve;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NEAR(Dip(sorted), 0.05555555555555555, 1e-12);
  EXPECT_NEAR(Dip({1.0, 1.1, 1.3, 1.6, 2.0, 2.1, 7.0, 7.1, 7.4, 7.5, 8.1, 8.2, 8.3, 9.9}), 0.175,
              1e-12);
  std::vector<double> two(20, 1);
  two.insert(two.end(), 20, 2);
  EXPECT_NEAR(Dip(two), 0.25, 1e-12);
  EXPECT_NEAR(Dip({4, 4, 4, 4, 4}), 0.1, 1e-12);
}

// How many of 200 series have two modes.
int WithTwoModes(const std::function<std::vector<double>()>& make) {
  int found = 0;
  for (int i = 0; i < 200; ++i) found += FindTwoModes(make()).has_value();
  return found;
}

TEST(ModesTest, OneModeIsNotTakenForTwo) {
  Series series(21);
  EXPECT_LE(WithTwoModes([&] { return series.Make(100, [&] { return series.Share(); }); }), 6);
  // A tail as times of calls have it.
  EXPECT_EQ(WithTwoModes([&] {
              return series.Make(300, [&] { return 100 + std::exp(1.5 * series.Normal()); });
            }),
            0);
  EXPECT_LE(WithTwoModes([&] { return series.Correlated(200, 0.9); }), 2);
  double drift = 0;
  EXPECT_LE(WithTwoModes(
                [&] { return series.Make(200, [&] { return drift += 0.3 * series.Normal(); }); }),
            4);
  EXPECT_FALSE(FindTwoModes({1, 2, 1, 2, 1, 2}).has_value());
}

TEST(ModesTest, TwoAreFoundWhetherMixedOrInTurns) {
  Series series(22);
  EXPECT_GE(WithTwoModes([&] {
              return series.Make(200,
                                 [&] { return (series.Share() < 0.4 ? 6 : 0) + series.Normal(); });
            }),
            190);
  double mode = 0;
  EXPECT_GE(WithTwoModes([&] {
              return series.Make(400, [&] {
                if (series.Share() < 0.05) mode = 8 - mode;
                return mode + series.Normal();
              });
            }),
            180);
}

TEST(ModesTest, SaysWhereTheyAre) {
  Series series(23);
  std::vector<double> samples =
      series.Make(500, [&] { return (series.Share() < 0.3 ? 150 : 100) + series.Normal(); });
  samples[7] = 1e6;
  const std::optional<TwoModes> modes = FindTwoModes(samples);
  ASSERT_TRUE(modes.has_value());
  EXPECT_NEAR(modes->low, 100, 0.5);
  EXPECT_NEAR(modes->high, 150, 0.5);
  EXPECT_NEAR(modes->share_high, 0.3, 0.06);
}

}  // namespace
}  // namespace slipway
