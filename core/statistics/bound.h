// Whether a number stays within a bound, as far as a sample tells. Pure and thread-safe.
#ifndef SLIPWAY_CORE_STATISTICS_BOUND_H_
#define SLIPWAY_CORE_STATISTICS_BOUND_H_

#include "core/statistics/estimate.h"

namespace slipway {

enum class BoundVerdict { kMet, kMissed, kUndecided };

// Met when all of the interval is at most `bound`, missed when all of it is above, undecided when the bound lies in between or
// there is no interval. For a quantile (EstimateQuantile) of independent samples the first is LoadGen's rule of early stopping:
// how many samples may be above the bound, of so many, is a matter of the binomial distribution.
BoundVerdict JudgeBound(const Estimate& estimate, double bound);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_BOUND_H_
