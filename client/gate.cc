#include "client/gate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/statistics/median.h"
#include "core/statistics/shift.h"

namespace slipway {
namespace {

constexpr absl::Duration kShortestSitting = absl::Hours(1);
constexpr int64_t kMaxSittings = 100;
// Standard deviations of a normal variable about its mean, at kComparisonConfidence.
constexpr double kDeviations = 2.576;

void SortByTime(std::vector<TimedResult>& results) {
  std::stable_sort(results.begin(), results.end(),
                   [](const TimedResult& a, const TimedResult& b) { return a.time < b.time; });
}

// `results` in the order of time.
std::vector<Sitting> Sittings(absl::Span<const TimedResult> results, absl::Duration length) {
  std::vector<Sitting> sittings;
  for (size_t begin = 0; begin < results.size();) {
    std::vector<double> times;
    size_t end = begin;
    while (end < results.size() && results[end].time - results[begin].time < length) {
      times.push_back(results[end++].call_ns);
    }
    sittings.push_back({.begin = results[begin].time,
                        .results = static_cast<int64_t>(times.size()),
                        .call_ns = Median(std::move(times))});
    begin = end;
  }
  if (const auto count = static_cast<int64_t>(sittings.size()); count > kMaxSittings) {
    sittings.erase(sittings.begin(), sittings.end() - kMaxSittings);
  }
  return sittings;
}

absl::Duration SittingLength(absl::Span<const TimedResult> baseline) {
  const std::vector<Sitting> sittings = Sittings(baseline, kShortestSitting);
  std::vector<double> apart;
  for (size_t i = 1; i < sittings.size(); ++i) {
    apart.push_back(absl::ToDoubleSeconds(sittings[i].begin - sittings[i - 1].begin));
  }
  if (apart.empty()) return kShortestSitting;
  return std::max(kShortestSitting, absl::Seconds(Median(std::move(apart)) / 2));
}

std::vector<double> Logarithms(absl::Span<const Sitting> sittings) {
  std::vector<double> logarithms;
  logarithms.reserve(sittings.size());
  for (const Sitting& sitting : sittings) logarithms.push_back(std::log(sitting.call_ns));
  return logarithms;
}

// Half of the interval of a shift of normal samples is to be no longer than half of the regression, so that it is either
// shown or excluded; of `candidate` sittings it was longer.
std::optional<int64_t> SittingsWanted(int64_t baseline, int64_t candidate, double spread,
                                      double max_regression) {
  if (baseline == 0) return std::nullopt;
  const double wanted = max_regression / 2 / kDeviations;
  // A part of the variance comes from either side.
  const double left = wanted * wanted - spread * spread / static_cast<double>(baseline);
  if (left <= 0) return std::nullopt;
  const auto narrow = static_cast<int64_t>(std::ceil(spread * spread / left));
  const int64_t sittings =
      std::max({narrow, SamplesForShift(baseline, kComparisonConfidence), candidate + 1});
  if (sittings > kMaxSittings) return std::nullopt;
  return sittings;
}

}  // namespace

absl::string_view Name(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kPassed:
      return "passed";
    case GateVerdict::kRegressed:
      return "regressed";
    case GateVerdict::kUndecided:
      return "undecided";
  }
  return "";
}

GateVerdict Judge(const Estimate& ratio, double max_regression) {
  SLIPWAY_CHECK(max_regression > 0 && max_regression < 1, "the largest regression is a share");
  if (!ratio.interval.has_value()) return GateVerdict::kUndecided;
  if (ratio.interval->high < 1 + max_regression) return GateVerdict::kPassed;
  if (ratio.interval->low > 1 + max_regression / 2) return GateVerdict::kRegressed;
  return GateVerdict::kUndecided;
}

HistoryFinding JudgeHistory(std::vector<TimedResult> baseline, std::vector<TimedResult> candidate,
                            double max_regression) {
  SortByTime(baseline);
  SortByTime(candidate);
  HistoryFinding finding;
  finding.sitting = SittingLength(baseline);
  finding.baseline = Sittings(baseline, finding.sitting);
  finding.candidate = Sittings(candidate, finding.sitting);
  const std::vector<double> before = Logarithms(finding.baseline);
  const std::vector<double> after = Logarithms(finding.candidate);
  if (!before.empty()) finding.spread = MedianSpread(before);
  if (!before.empty() && !after.empty()) {
    const Estimate shift = EstimateShift(before, after, kComparisonConfidence);
    finding.ratio.value = std::exp(shift.value);
    if (shift.interval.has_value()) {
      finding.ratio.interval = {std::exp(shift.interval->low), std::exp(shift.interval->high)};
    }
  }
  finding.verdict = Judge(finding.ratio, max_regression);
  if (finding.verdict == GateVerdict::kUndecided) {
    finding.sittings_wanted =
        SittingsWanted(static_cast<int64_t>(before.size()), static_cast<int64_t>(after.size()),
                       finding.spread, max_regression);
  }
  return finding;
}

absl::StatusOr<GateFinding> RunGate(GateQuestion question, TimeInTurns time_in_turns) {
  const double max_regression = question.max_regression;
  GateFinding finding;
  finding.history =
      JudgeHistory(std::move(question.baseline), std::move(question.candidate), max_regression);
  finding.verdict = question.is_one_program ? GateVerdict::kPassed : finding.history.verdict;
  if (finding.verdict == GateVerdict::kPassed) return finding;
  SLIPWAY_ASSIGN_OR_RETURN(finding.turns, time_in_turns(max_regression / 2));
  if (!finding.turns.has_value()) return finding;
  const GateVerdict verdict = Judge(finding.turns->ratio, max_regression);
  if (verdict != GateVerdict::kUndecided) finding.verdict = verdict;
  return finding;
}

}  // namespace slipway
