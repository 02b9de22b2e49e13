// Arithmetic, number by number.
#ifndef SLIPWAY_CORE_KERNELS_ARITHMETIC_H_
#define SLIPWAY_CORE_KERNELS_ARITHMETIC_H_

#include <cstdint>
#include <type_traits>

namespace slipway::kernels {

// Integers wrap around; NaN goes through.
template <typename T>
T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename T>
T Difference(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  } else {
    return a - b;
  }
}
template <typename T>
T Product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
// Integers truncate towards zero. REQUIRES: an integral b is not 0.
template <typename T>
T Quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // The lowest number divided by -1 does not fit and wraps.
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Difference(T{0}, a);
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}
template <typename T>
T Minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
template <typename T>
T Maximum(T a, T b) {
  return a > b || a != a ? a : b;
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_ARITHMETIC_H_
