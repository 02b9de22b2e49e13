// How far two samples lie apart, some of whose members may be far out. Pure and thread-safe.
#ifndef SLIPWAY_CORE_STATISTICS_SHIFT_H_
#define SLIPWAY_CORE_STATISTICS_SHIFT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/statistics/estimate.h"

namespace slipway {

// How much greater `to` is than `from`, where both, each in the order of time, are samples of one distribution, whichever it
// is, but for a shift. The value is the median of all differences of a member of `to` and one of `from`, the interval lies
// between two of those at ranks that the rank-sum statistic gives (J. L. Hodges, E. L. Lehmann, Estimates of location based
// on rank tests, Annals of Mathematical Statistics 34 (1963), 598-611; H. B. Mann, D. R. Whitney, the same 18 (1947), 50-60;
// exact). Members that depend on each other count as fewer: by the Inefficiency of what is left of `from` and then
// `to` when each is held against its own median.
//
// There is no interval where even a sample that lies wholly beyond the other would be a matter of chance: see SamplesForShift.
// REQUIRES: 1 to 100 samples each, finite; 0 < confidence < 1. Takes O(n^4) time at most.
Estimate EstimateShift(absl::Span<const double> from, absl::Span<const double> to,
                       double confidence);

// The fewest independent samples of `to` with which there is an interval: 2 when `from` has 20, 3 when it has 10, at a
// confidence of 0.99. REQUIRES: from > 0.
int64_t SamplesForShift(int64_t from, double confidence);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_SHIFT_H_
