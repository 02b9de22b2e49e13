// What the machine's own clock tells apart.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_CLOCK_RESOLUTION_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_CLOCK_RESOLUTION_H_

#include <cstdint>

namespace slipway {

// Of SystemClock::Monotonic, as the system says it: nanoseconds, 1 or more. 1 where timers are of high resolution, else a tick of some
// milliseconds.
int64_t ClockResolutionNs();

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_CLOCK_RESOLUTION_H_
