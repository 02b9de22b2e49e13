// Size classes: sizes of memory blocks, so that a block that was returned serves later requests.
#ifndef SLIPWAY_CORE_RUNTIME_SIZE_CLASS_H_
#define SLIPWAY_CORE_RUNTIME_SIZE_CLASS_H_

#include <cstdint>

#include "absl/numeric/bits.h"

namespace slipway {

inline constexpr int kSizeClasses = 4 * 64;
inline constexpr uint64_t kSmallestBlockBytes = 256;
// Where pointers have 32 bits, what can be addressed with all that lies beside it.
inline constexpr uint64_t kLargestBlockBytes = uint64_t{1} << (sizeof(void*) == 4 ? 30 : 48);

// Sizes are 4, 5, 6 and 7 eighths of a power of two: at most a quarter is wasted.
// REQUIRES: bytes <= kLargestBlockBytes.
inline int SizeClassOf(uint64_t bytes) {
  if (bytes < kSmallestBlockBytes) bytes = kSmallestBlockBytes;
  const int log = absl::bit_width(bytes - 1) - 1;
  const uint64_t quarter = uint64_t{1} << (log - 2);
  return 4 * log + static_cast<int>((bytes - 1 - (uint64_t{1} << log)) / quarter);
}

// Bytes of a block of that class.
inline uint64_t BytesOfSizeClass(int size_class) {
  const int log = size_class / 4;
  return (uint64_t{1} << log) +
         (static_cast<uint64_t>(size_class % 4) + 1) * (uint64_t{1} << (log - 2));
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_SIZE_CLASS_H_
