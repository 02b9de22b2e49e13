// PoissonArrivals: when queries come that nobody times.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_ARRIVALS_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_ARRIVALS_H_

#include <cstdint>

#include "core/base/split_mix.h"

namespace slipway {

// The moments of a Poisson process: the gaps between them are independent and exponentially distributed, each made by the
// inverse of the distribution function from a number of SplitMix64. A function of rate and seed alone. Not thread-safe.
class PoissonArrivals {
 public:
  // REQUIRES: qps > 0 and finite.
  PoissonArrivals(double qps, uint64_t seed) : mean_gap_ns_(1e9 / qps), random_(seed) {}

  // The next moment, nanoseconds from the beginning; never falls.
  int64_t Next();

 private:
  const double mean_gap_ns_;
  SplitMix64 random_;
  double at_ns_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_ARRIVALS_H_
