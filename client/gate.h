// Whether a program has become slower than its baseline: by the results that a history holds of both and, where these alone
// do not tell, by timing both in turns. All but RunGate is pure and thread-safe.
#ifndef SLIPWAY_CLIENT_GATE_H_
#define SLIPWAY_CLIENT_GATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/comparison.h"
#include "core/statistics/estimate.h"

namespace slipway {

enum class GateVerdict { kPassed, kRegressed, kUndecided };
absl::string_view Name(GateVerdict verdict);  // "passed", "regressed", "undecided"

// Of a ratio of times, the candidate's over the baseline's, with an interval at kComparisonConfidence: passed when a regression
// of `max_regression` is excluded; else regressed when one of half of it is shown; else undecided, as it is without an
// interval. So one of `max_regression` or more never passes, and one of less than half of it is never reported, but for the
// share of intervals that do not hold the truth; in between either may be said (the indifference zone of A. Wald, Sequential
// Tests of Statistical Hypotheses, Annals of Mathematical Statistics 16 (1945), 117-186).
// REQUIRES: 0 < max_regression < 1.
GateVerdict Judge(const Estimate& ratio, double max_regression);

// A result of a history.
struct TimedResult {
  absl::Time time;
  double call_ns = 0;  // Median of a call.
};

// Results that were taken so close together that the machine was in one state, of which they are a single sample.
struct Sitting {
  absl::Time begin;
  int64_t results = 0;
  double call_ns = 0;  // Median of the results'.
};

// What a history says of a candidate.
struct HistoryFinding {
  std::vector<Sitting> baseline, candidate;  // In the order of time.
  absl::Duration sitting;                    // How long one lasts at most.
  // How much the baseline's sittings differ: MedianSpread of the logarithms of their times.
  double spread = 0;
  // The time of the candidate over that of the baseline; no interval where there are too few sittings.
  Estimate ratio = {.value = 1, .interval = std::nullopt};
  GateVerdict verdict = GateVerdict::kUndecided;
  // Undecided: about how many sittings of the candidate would tell; absent where, with this baseline, none would.
  std::optional<int64_t> sittings_wanted;
};

// The noise of results is that between sittings: placement of memory, warmth, neighbours and clocks are another's each hour
// and each day, beside which the samples of a result, or results one after the other, agree too well. Sittings last an hour,
// or half of the time that lies between the baseline's if that is more, so that the candidate's lie as far apart as those
// that it is held against. The ratio is EstimateShift (core/statistics/shift.h) of the logarithms of sittings' times, which
// has no interval before the candidate lies so often on one side of the baseline that it is no chance, whatever the noise:
// one sitting never decides. Of each the newest 100 sittings count.
//
// Both in any order; either may be empty. REQUIRES: times of calls are over 0 and finite; 0 < max_regression < 1.
HistoryFinding JudgeHistory(std::vector<TimedResult> baseline, std::vector<TimedResult> candidate,
                            double max_regression);

struct GateQuestion {
  std::vector<TimedResult> baseline, candidate;
  double max_regression = 0.03;
  // Both are one artifact: what differs is the machine, and nothing can have become slower but that.
  bool is_one_program = false;
};

struct GateFinding {
  GateVerdict verdict = GateVerdict::kUndecided;
  HistoryFinding history;
  std::optional<Comparison> turns;  // A is the baseline; absent if they were not timed.
};

// What ComparePrograms gives of baseline and candidate with this margin; nothing where they cannot be timed.
using TimeInTurns = absl::FunctionRef<absl::StatusOr<std::optional<Comparison>>(double margin)>;

// The history alone lets pass, and so does being one program. What it does not is timed in turns, which cancels what the
// machine does and what has become of it since, and that decides; where it cannot, the history's verdict stands. Errors of
// `time_in_turns`. REQUIRES: as JudgeHistory.
absl::StatusOr<GateFinding> RunGate(GateQuestion question, TimeInTurns time_in_turns);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_GATE_H_
