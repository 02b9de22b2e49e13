// Pure and thread-safe.
#ifndef SLIPWAY_CORE_STATISTICS_MEDIAN_H_
#define SLIPWAY_CORE_STATISTICS_MEDIAN_H_

#include <vector>

namespace slipway {

// Of an even number of values, the mean of the two in the middle. REQUIRES: not empty, finite.
double Median(std::vector<double> values);

// How far values lie from their median: the median of the distances, times 1.4826, which of many normal values is their
// standard deviation. Less than half of them, wherever they lie, do not move it far. REQUIRES: as Median.
double MedianSpread(const std::vector<double>& values);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_MEDIAN_H_
