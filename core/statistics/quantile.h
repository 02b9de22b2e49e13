// Quantiles (percentiles) of samples that may depend on each other, as far as the sample supports them. Pure and
// thread-safe.
#ifndef SLIPWAY_CORE_STATISTICS_QUANTILE_H_
#define SLIPWAY_CORE_STATISTICS_QUANTILE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/statistics/estimate.h"

namespace slipway {

// The quantile `p` (0.5: the median) of what `series`, in the order of time, is a sample of. The value is that of the
// nearest rank: the smallest sample that a share `p` of all are not above.
//
// The interval is between two order statistics, whatever the distribution (H. A. David, H. N. Nagaraja, Order
// Statistics, 3rd ed., 2003, 7.1): the number of n independent samples that are not above the quantile is binomial.
// Samples that depend on each other count as fewer: n / Inefficiency of the series of "is not above the value", which
// is what the asymptotic variance of a quantile hangs on (P. K. Sen, On the Bahadur representation of sample quantiles
// for sequences of phi-mixing random variables, J. Multivariate Analysis 2 (1972), 77-95).
//
// REQUIRES: series is not empty and finite, 0 < p < 1, 0 < confidence < 1. Takes O(n log n).
Estimate EstimateQuantile(absl::Span<const double> series, double p, double confidence = 0.95);

// The fewest independent samples of which EstimateQuantile gives an interval: 6 for a median, 36 for a p90, 368 for a
// p99, at a confidence of 0.95.
int64_t SamplesForQuantile(double p, double confidence = 0.95);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_QUANTILE_H_
