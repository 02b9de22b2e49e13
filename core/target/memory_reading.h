// How fast memory is read, measured: what kernels that read much and compute little are compared with.
#ifndef SLIPWAY_CORE_TARGET_MEMORY_READING_H_
#define SLIPWAY_CORE_TARGET_MEMORY_READING_H_

#include <cstdint>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway {

// The time in which so many threads, the caller's included, read `bytes` together, each its part, that they have read
// before, so that as much as caches hold comes from caches: of each the best of the passes that end within `duration`, and
// of two at least. Infinite where there is no memory for them.
absl::Duration MeasureReading(int64_t bytes, int threads, const Clock& clock,
                              absl::Duration duration);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_MEMORY_READING_H_
