// What is shown of calls that were not made one after the other.
#ifndef SLIPWAY_CLIENT_THROUGHPUT_H_
#define SLIPWAY_CLIENT_THROUGHPUT_H_

#include <cstdint>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/statistics/estimate.h"

namespace slipway {

// Calls a second, over all of the time. `duration` > 0.
double CallsPerSecond(int64_t calls, absl::Duration duration);

// Calls a second of the scenario "offline", of which `ends_ns` are the ends of groups of `calls_per_group`, from when all were
// issued. The interval, at a confidence of 0.95, is that of the centre of the rates of 20 batches of groups that ended one after
// the other (the method of batch means: G. S. Fishman, Principles of Discrete Event Simulation, 1978); absent of fewer than 20
// groups. REQUIRES: ends_ns is not empty and rises, calls_per_group > 0.
Estimate OfflineThroughput(absl::Span<const int64_t> ends_ns, int64_t calls_per_group);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_THROUGHPUT_H_
