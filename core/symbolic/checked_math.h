// Integer arithmetic that says so when a result does not fit in 64 bits.
#ifndef SLIPWAY_CORE_SYMBOLIC_CHECKED_MATH_H_
#define SLIPWAY_CORE_SYMBOLIC_CHECKED_MATH_H_

#include <cstdint>
#include <limits>
#include <optional>

namespace slipway {

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<int64_t> CheckedSubtract(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// Rounded towards minus infinity. REQUIRES: b is not 0.
inline std::optional<int64_t> CheckedFloorDivide(int64_t a, int64_t b) {
  if (b == -1 && a == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Rounded towards plus infinity. REQUIRES: b is not 0.
inline std::optional<int64_t> CheckedCeilDivide(int64_t a, int64_t b) {
  if (b == -1 && a == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_SYMBOLIC_CHECKED_MATH_H_
