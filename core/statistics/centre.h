// The centre of differences, some of which may be far out. Pure and thread-safe.
#ifndef SLIPWAY_CORE_STATISTICS_CENTRE_H_
#define SLIPWAY_CORE_STATISTICS_CENTRE_H_

#include "absl/types/span.h"
#include "core/statistics/estimate.h"

namespace slipway {

// The centre of what `series`, in the order of time, is a sample of, which is to lie about it as often on one side as on
// the other: differences of pairs whose members might be exchanged do. The value is the median of the means of all
// pairs of samples, itself with itself included, and the interval lies between two of those means at ranks that the
// signed-rank statistic gives (J. L. Hodges, E. L. Lehmann, Estimates of location based on rank tests, Annals of
// Mathematical Statistics 34 (1963), 598-611; exact up to 50 samples). Less than 29 % of the samples, wherever they
// lie, do not move it far; of normal ones it needs 5 % more than a mean would. Samples that depend on each other widen
// it by the root of their Inefficiency, of which a dozen samples show little yet.
//
// There is an interval from 6 samples on at a confidence of 0.95, from 8 at 0.99.
// REQUIRES: 1 to 4,096 samples, finite; 0 < confidence < 1. Takes O(n^2) time and memory.
Estimate EstimateCentre(absl::Span<const double> series, double confidence);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_CENTRE_H_
