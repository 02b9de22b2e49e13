// Sizes and places in memory and files are multiples of an alignment.
#ifndef SLIPWAY_CORE_BASE_ROUND_UP_H_
#define SLIPWAY_CORE_BASE_ROUND_UP_H_

#include <cstdint>

namespace slipway {

// The least multiple of `alignment` that is `bytes` at least. REQUIRES: bytes >= 0, alignment > 0, and the result fits.
constexpr int64_t RoundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_ROUND_UP_H_
