// How fast memory is read, measured: what kernels that read much and compute little are compared with.
#ifndef SLIPWAY_TESTS_BENCH_MEMORY_READING_H_
#define SLIPWAY_TESTS_BENCH_MEMORY_READING_H_

#include <cstdint>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway::bench {

// The time in which the calling thread reads `bytes` that it has read before, so that as much as caches hold
// comes from caches: the best of the passes that end within `duration`, and of two at least.
absl::Duration MeasureReading(int64_t bytes, const Clock& clock, absl::Duration duration);

}  // namespace slipway::bench

#endif  // SLIPWAY_TESTS_BENCH_MEMORY_READING_H_
