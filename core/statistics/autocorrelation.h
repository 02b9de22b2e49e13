// How far the samples of a series depend on each other. A series is in the order of time; its unit does not matter.
// Pure and thread-safe.
#ifndef SLIPWAY_CORE_STATISTICS_AUTOCORRELATION_H_
#define SLIPWAY_CORE_STATISTICS_AUTOCORRELATION_H_

#include "absl/types/span.h"

namespace slipway {

// The correlation of each sample with the next, -1 to 1; about 0 for independent ones. 0 for fewer than 3 samples
// or equal ones. REQUIRES: all finite; the same below.
double Lag1Autocorrelation(absl::Span<const double> series);

// How many samples of the series tell of its mean as much as one independent sample would: n / Inefficiency is the
// effective sample size. At least 1, since samples that alternate are not trusted to, and at most n.
//
// It is 1 + 2 * (sum of the autocorrelations of all lags), summed until noise begins: the initial monotone sequence of
// C. J. Geyer, Practical Markov chain Monte Carlo, Statistical Science 7 (1992), 473-483. Of a series of more than
// 4,096 samples the means of batches are taken first (the same paper, 3.2), so that it takes O(n) time.
double Inefficiency(absl::Span<const double> series);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_AUTOCORRELATION_H_
