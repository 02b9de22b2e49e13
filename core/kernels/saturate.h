// Conversions that do not wrap around. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_SATURATE_H_
#define SLIPWAY_CORE_KERNELS_SATURATE_H_

#include <stdint.h>

#include "core/kernels/types.h"

namespace slipway::kernels {

// A number as T. For integers it is cut to a whole one and to those that T has; NaN becomes the least.
template <typename T>
inline T CutTo(double value) {
  if constexpr (kIsFloat<T>) {
    return Narrow<T>(value);
  } else {
    constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
    constexpr int kBits = static_cast<int>(sizeof(T)) * 8 - (kSigned ? 1 : 0);
    const double end = kBits == 64 ? 0x1p64 : static_cast<double>(uint64_t{1} << (kBits % 64));
    const double least = kSigned ? -end : 0;
    if (!(value > least)) return static_cast<T>(least);
    if (value >= end) return static_cast<T>(~uint64_t{0} >> (64 - kBits));
    return static_cast<T>(value);
  }
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_SATURATE_H_
