// Whether a sample has one mode or two. Pure and thread-safe.
#ifndef SLIPWAY_CORE_STATISTICS_MODES_H_
#define SLIPWAY_CORE_STATISTICS_MODES_H_

#include <optional>

#include "absl/types/span.h"

namespace slipway {

// The dip of a sample: how far its distribution function is from the nearest one with a single mode, 0 to 1/4, at least
// 1 / (2n). J. A. Hartigan, P. M. Hartigan, The dip test of unimodality, Annals of Statistics 13 (1985), 70-84.
// REQUIRES: sorted, not empty, finite.
double Dip(absl::Span<const double> sorted);

// Two modes, in the unit of the sample: the medians of the samples on both sides of where the two fall apart most
// clearly.
struct TwoModes {
  double low = 0;
  double high = 0;
  double share_high = 0;  // Of the samples, those that belong to the higher one.
};

// Absent unless the dip is one that a sample of a distribution with one mode, even the uniform one, has in fewer than
// 1 of 100 cases. The dip and not Sarle's coefficient, which is made of skewness and kurtosis and takes the long tail
// that times of calls always have for a second mode. Samples count as fewer by the inefficiency of what is left when
// each is held against its own mode: a machine that changes its clock now and then has two modes; a series that drifts
// has none of its own.
//
// REQUIRES: in the order of time, finite. Takes O(n log n).
std::optional<TwoModes> FindTwoModes(absl::Span<const double> series);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_MODES_H_
