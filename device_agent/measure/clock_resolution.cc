#include "device_agent/measure/clock_resolution.h"

#include <ctime>

namespace slipway {

int64_t ClockResolutionNs() {
  timespec resolution = {};
  clock_getres(CLOCK_MONOTONIC, &resolution);  // Cannot fail: Linux always has this clock.
  return int64_t{resolution.tv_sec} * 1'000'000'000 + resolution.tv_nsec;
}

}  // namespace slipway
