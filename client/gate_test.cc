#include "client/gate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

constexpr double kMost = 0.03;
const absl::Time kBegin = absl::FromUnixSeconds(1767225600);

// A result a day, whose times alternate about `call_ns` by up to `noise`, so that they show no dependence.
std::vector<TimedResult> Days(int count, double call_ns, double noise, int first_day = 0) {
  std::vector<TimedResult> results;
  for (int i = 0; i < count; ++i) {
    const double share = static_cast<double>(i / 2 + 1) / static_cast<double>(count / 2 + 1);
    results.push_back({.time = kBegin + absl::Hours(24 * (first_day + i)),
                       .call_ns = call_ns * (1 + (i % 2 == 0 ? noise : -noise) * share)});
  }
  return results;
}

Estimate Between(double low, double high) {
  return {.value = (low + high) / 2, .interval = ConfidenceInterval{low, high}};
}

TEST(JudgeTest, WhatIsExcludedPassesAndWhatIsShownIsReported) {
  EXPECT_EQ(Judge(Between(0.99, 1.02), kMost), GateVerdict::kPassed);
  EXPECT_EQ(Judge(Between(0.5, 0.6), kMost), GateVerdict::kPassed);
  EXPECT_EQ(Judge(Between(1.02, 1.04), kMost), GateVerdict::kRegressed);
  EXPECT_EQ(Judge(Between(2, 3), kMost), GateVerdict::kRegressed);
  EXPECT_EQ(Judge(Between(0.99, 1.04), kMost), GateVerdict::kUndecided);
  // Slower for sure, and for sure by less than what is allowed.
  EXPECT_EQ(Judge(Between(1.016, 1.029), kMost), GateVerdict::kPassed);
  // At the bounds.
  EXPECT_EQ(Judge(Between(1, 1 + kMost), kMost), GateVerdict::kUndecided);
  EXPECT_EQ(Judge(Between(1 + kMost / 2, 1.1), kMost), GateVerdict::kUndecided);
  EXPECT_EQ(Judge({.value = 2, .interval = std::nullopt}, kMost), GateVerdict::kUndecided);
  EXPECT_EQ(Judge(Between(1.11, 1.21), 0.2), GateVerdict::kRegressed);
}

TEST(JudgeTest, VerdictsHaveNames) {
  EXPECT_EQ(Name(GateVerdict::kPassed), "passed");
  EXPECT_EQ(Name(GateVerdict::kRegressed), "regressed");
  EXPECT_EQ(Name(GateVerdict::kUndecided), "undecided");
}

TEST(JudgeHistoryTest, DecidesWhereSittingsAreManyAndAlike) {
  const auto judge = [](double ratio) {
    return JudgeHistory(Days(20, 1000, 0.002), Days(4, 1000 * ratio, 0.002, 20), kMost);
  };
  const HistoryFinding same = judge(1);
  EXPECT_EQ(same.verdict, GateVerdict::kPassed);
  EXPECT_EQ(same.baseline.size(), 20u);
  EXPECT_EQ(same.candidate.size(), 4u);
  EXPECT_EQ(same.sitting, absl::Hours(12));
  EXPECT_NEAR(same.spread, 0.0015, 0.0006);
  EXPECT_NEAR(same.ratio.value, 1, 0.001);
  ASSERT_TRUE(same.ratio.interval.has_value());
  EXPECT_LT(same.ratio.interval->low, 1);
  EXPECT_GT(same.ratio.interval->high, 1);
  EXPECT_EQ(same.sittings_wanted, std::nullopt);
  const HistoryFinding slower = judge(1.03);
  EXPECT_EQ(slower.verdict, GateVerdict::kRegressed);
  EXPECT_NEAR(slower.ratio.value, 1.03, 0.001);
  EXPECT_EQ(judge(0.9).verdict, GateVerdict::kPassed);
}

TEST(JudgeHistoryTest, OneSittingNeverDecides) {
  // Ten results within minutes, twice as slow.
  std::vector<TimedResult> candidate;
  for (int i = 0; i < 10; ++i) {
    candidate.push_back(
        {.time = kBegin + absl::Hours(24 * 20) + absl::Minutes(i), .call_ns = 2000 + i * 10.0});
  }
  const HistoryFinding finding = JudgeHistory(Days(20, 1000, 0.002), candidate, kMost);
  EXPECT_EQ(finding.verdict, GateVerdict::kUndecided);
  ASSERT_EQ(finding.candidate.size(), 1u);
  EXPECT_EQ(finding.candidate[0].results, 10);
  EXPECT_EQ(finding.candidate[0].begin, candidate[0].time);
  EXPECT_EQ(finding.candidate[0].call_ns, 2045);
  EXPECT_NEAR(finding.ratio.value, 2.045, 0.005);
  EXPECT_FALSE(finding.ratio.interval.has_value());
  EXPECT_EQ(finding.sittings_wanted, 2);
}

TEST(JudgeHistoryTest, SittingsOfTheCandidateLieAsFarApartAsTheBaselines) {
  std::vector<TimedResult> baseline = Days(10, 1000, 0.002);
  const std::vector<TimedResult> candidate = {{kBegin + absl::Hours(300), 1000},
                                              {kBegin + absl::Hours(305), 1000},
                                              {kBegin + absl::Hours(312), 1000}};
  EXPECT_EQ(JudgeHistory(baseline, candidate, kMost).candidate.size(), 2u);
  for (size_t i = 0; i < baseline.size(); ++i) {
    baseline[i].time = kBegin + absl::Hours(4 * static_cast<int>(i));
  }
  const HistoryFinding finding = JudgeHistory(baseline, candidate, kMost);
  EXPECT_EQ(finding.sitting, absl::Hours(2));
  EXPECT_EQ(finding.candidate.size(), 3u);
  // An hour at least.
  for (size_t i = 0; i < baseline.size(); ++i) {
    baseline[i].time = kBegin + absl::Minutes(10 * static_cast<int>(i));
  }
  const HistoryFinding close = JudgeHistory(baseline, candidate, kMost);
  EXPECT_EQ(close.sitting, absl::Hours(1));
  EXPECT_EQ(close.baseline.size(), 2u);
  EXPECT_EQ(close.baseline[0].results, 6);
}

TEST(JudgeHistoryTest, TheOrderOfResultsDoesNotMatter) {
  std::vector<TimedResult> baseline = Days(20, 1000, 0.002);
  std::vector<TimedResult> candidate = Days(4, 1000, 0.002, 20);
  const HistoryFinding finding = JudgeHistory(baseline, candidate, kMost);
  std::reverse(baseline.begin(), baseline.end());
  std::reverse(candidate.begin(), candidate.end());
  const HistoryFinding turned = JudgeHistory(baseline, candidate, kMost);
  EXPECT_EQ(turned.ratio.value, finding.ratio.value);
  EXPECT_EQ(turned.baseline[0].begin, kBegin);
  EXPECT_EQ(turned.verdict, finding.verdict);
}

TEST(JudgeHistoryTest, NoiseLeavesItUndecidedAndSaysHowManySittingsWouldTell) {
  // Sittings differ by 1.63 %, and half of the interval is to be 1.5 %.
  const HistoryFinding noisy = JudgeHistory(Days(30, 1000, 0.022), Days(4, 1020, 0.022, 30), kMost);
  EXPECT_EQ(noisy.verdict, GateVerdict::kUndecided);
  ASSERT_TRUE(noisy.ratio.interval.has_value());
  EXPECT_NEAR(noisy.spread, 0.0163, 0.0001);
  EXPECT_EQ(noisy.sittings_wanted, 11);
  // By that rule 4 would have done, and have not.
  EXPECT_EQ(JudgeHistory(Days(30, 1000, 0.013), Days(4, 1020, 0.013, 30), kMost).sittings_wanted,
            5);
  // No number of the candidate's makes up for a baseline that is not known.
  EXPECT_EQ(JudgeHistory(Days(10, 1000, 0.05), Days(4, 1000, 0.05, 10), kMost).sittings_wanted,
            std::nullopt);
  EXPECT_EQ(JudgeHistory(Days(1, 1000, 0), Days(4, 1000, 0, 10), kMost).sittings_wanted,
            std::nullopt);
}

TEST(JudgeHistoryTest, NothingIsKnownOfNothing) {
  const HistoryFinding none = JudgeHistory({}, {}, kMost);
  EXPECT_EQ(none.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(none.ratio.value, 1);
  EXPECT_FALSE(none.ratio.interval.has_value());
  EXPECT_EQ(none.sitting, absl::Hours(1));
  EXPECT_EQ(none.sittings_wanted, std::nullopt);
  EXPECT_EQ(JudgeHistory(Days(20, 1000, 0.01), {}, kMost).verdict, GateVerdict::kUndecided);
  EXPECT_EQ(JudgeHistory({}, Days(20, 1000, 0.01), kMost).verdict, GateVerdict::kUndecided);
}

TEST(JudgeHistoryTest, TheNewestSittingsCount) {
  // 100 that are fast, then 100 that are slow.
  std::vector<TimedResult> baseline = Days(100, 500, 0.002);
  for (const TimedResult& result : Days(100, 1000, 0.002, 100)) baseline.push_back(result);
  const HistoryFinding finding = JudgeHistory(baseline, Days(4, 1000, 0.002, 200), kMost);
  EXPECT_EQ(finding.baseline.size(), 100u);
  EXPECT_EQ(finding.baseline[0].begin, kBegin + absl::Hours(2400));
  EXPECT_EQ(finding.verdict, GateVerdict::kPassed);
}

class RunGateTest : public ::testing::Test {
 protected:
  // With the history in doubt, or not.
  absl::StatusOr<GateFinding> Gate(int sittings, double history_ratio, TimeInTurns time_in_turns) {
    return RunGate({.baseline = Days(20, 1000, 0.002),
                    .candidate = Days(sittings, 1000 * history_ratio, 0.002, 20),
                    .max_regression = kMost,
                    .is_one_program = is_one_program_},
                   time_in_turns);
  }
  std::function<absl::StatusOr<std::optional<Comparison>>(double)> Turns(double low, double high) {
    return [this, low, high](double margin) {
      margins_.push_back(margin);
      Comparison comparison;
      comparison.ratio = Between(low, high);
      return comparison;
    };
  }
  bool is_one_program_ = false;
  std::vector<double> margins_;
};

TEST_F(RunGateTest, TheHistoryAloneLetsPass) {
  ASSERT_OK_AND_ASSIGN(const GateFinding finding, Gate(4, 1, Turns(2, 3)));
  EXPECT_EQ(finding.verdict, GateVerdict::kPassed);
  EXPECT_FALSE(finding.turns.has_value());
  EXPECT_THAT(margins_, ::testing::IsEmpty());
}

TEST_F(RunGateTest, WhatItDoesNotTellIsTimedInTurns) {
  ASSERT_OK_AND_ASSIGN(const GateFinding slow, Gate(1, 1, Turns(1.02, 1.04)));
  EXPECT_EQ(slow.history.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(slow.verdict, GateVerdict::kRegressed);
  ASSERT_TRUE(slow.turns.has_value());
  EXPECT_EQ(slow.turns->ratio.interval->high, 1.04);
  EXPECT_THAT(margins_, ::testing::ElementsAre(kMost / 2));
  ASSERT_OK_AND_ASSIGN(const GateFinding same, Gate(1, 1, Turns(0.99, 1.01)));
  EXPECT_EQ(same.verdict, GateVerdict::kPassed);
  ASSERT_OK_AND_ASSIGN(const GateFinding unknown, Gate(1, 1, Turns(0.9, 1.1)));
  EXPECT_EQ(unknown.verdict, GateVerdict::kUndecided);
}

TEST_F(RunGateTest, ARegressionOfTheHistoryIsConfirmedOrWasTheMachines) {
  ASSERT_OK_AND_ASSIGN(const GateFinding machine, Gate(4, 1.03, Turns(0.99, 1.01)));
  EXPECT_EQ(machine.history.verdict, GateVerdict::kRegressed);
  EXPECT_EQ(machine.verdict, GateVerdict::kPassed);
  ASSERT_OK_AND_ASSIGN(const GateFinding doubtful, Gate(4, 1.03, Turns(0.9, 1.1)));
  EXPECT_EQ(doubtful.verdict, GateVerdict::kRegressed);
}

TEST_F(RunGateTest, OneProgramCannotHaveBecomeSlower) {
  is_one_program_ = true;
  ASSERT_OK_AND_ASSIGN(const GateFinding finding, Gate(4, 1.03, Turns(2, 3)));
  EXPECT_EQ(finding.verdict, GateVerdict::kPassed);
  EXPECT_EQ(finding.history.verdict, GateVerdict::kRegressed);
  EXPECT_THAT(margins_, ::testing::IsEmpty());
}

TEST_F(RunGateTest, WithoutTurnsTheHistoryStands) {
  const auto cannot = [](double) { return std::nullopt; };
  ASSERT_OK_AND_ASSIGN(const GateFinding slow, Gate(4, 1.03, cannot));
  EXPECT_EQ(slow.verdict, GateVerdict::kRegressed);
  ASSERT_OK_AND_ASSIGN(const GateFinding unknown, Gate(1, 1, cannot));
  EXPECT_EQ(unknown.verdict, GateVerdict::kUndecided);
}

TEST_F(RunGateTest, ErrorsOfTimingAreItsOwn) {
  EXPECT_THAT(Gate(1, 1, [](double) { return absl::AbortedError("crashed"); }).status(),
              StatusIs(absl::StatusCode::kAborted, "crashed"));
}

}  // namespace
}  // namespace slipway
