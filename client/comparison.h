// Which of two programs is faster on a device: both are timed in turns, so that what the machine does meanwhile strikes
// both alike.
#ifndef SLIPWAY_CLIENT_COMPARISON_H_
#define SLIPWAY_CLIENT_COMPARISON_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/types.h"
#include "core/base/clock.h"
#include "core/statistics/estimate.h"

namespace slipway {

enum class Side { kA, kB };

// Of B, against A.
enum class Verdict { kSame, kBetter, kWorse };
absl::string_view Name(Verdict verdict);  // "same", "better", "worse"

struct ComparisonOptions {
  // Programs whose times differ by less than this share count as the same; over 0, and below 1.
  double margin = 0.01;
  // No cycle begins later, unless there are too few for an interval.
  absl::Duration limit = absl::Minutes(1);
};

inline constexpr double kComparisonConfidence = 0.99;

struct Comparison {
  Verdict verdict = Verdict::kSame;
  // Whether the interval of the ratio lies wholly inside of the margin, or wholly outside. If not, time was over, and
  // the verdict is kSame since nothing else was shown.
  bool is_certain = false;
  // The time of B over the time of A, at kComparisonConfidence.
  Estimate ratio;
  // Median of a call over all blocks, nanoseconds. Their ratio is less exact than `ratio`.
  double a_ns = 0;
  double b_ns = 0;
  int64_t cycles = 0;
  double lag1_autocorrelation = 0;  // Of the ratios of cycles.
};

// Loads both programs anew, the first of `order` first, times `samples` samples of one program after the other in this
// order, and unloads them. One result for each of `order`.
using TimeBlocks = absl::FunctionRef<absl::StatusOr<std::vector<BenchmarkResult>>(
    absl::Span<const Side> order, int samples)>;

// A cycle is A B B A and, with the programs loaded anew, B A A B: a drift that is steady meanwhile cancels out, and so
// does what it is worth to be loaded first. Where memory comes to lie changes the speed of a program by some percent for
// as long as it is loaded, so that many calls of one load are a single sample of it. A cycle gives one ratio: that of the
// medians of its blocks, each of about 20 ms. The ratio of all is EstimateCentre of their logarithms
// (core/statistics/centre.h), taken after each cycle from the 8th on until it is certain or time is over; a difference
// is held against the margin and not against 1, so that looking often does not make one.
//
// Errors of `time_blocks`. REQUIRES: options in range.
absl::StatusOr<Comparison> ComparePrograms(TimeBlocks time_blocks, const ComparisonOptions& options,
                                           const Clock& clock);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_COMPARISON_H_
