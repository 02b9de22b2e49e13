#include "device_agent/measure/arrivals.h"

#include <algorithm>
#include <cmath>

namespace slipway {

int64_t PoissonArrivals::Next() {
  const double share = static_cast<double>(random_.Next() >> 11) * 0x1p-53;  // [0, 1)
  at_ns_ += -std::log1p(-share) * mean_gap_ns_;
  return static_cast<int64_t>(std::min(at_ns_, 9e18));
}

}  // namespace slipway
