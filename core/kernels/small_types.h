// Element types of at most a byte that C++ has no type for: floats of 4 to 8 bits, integers of 2 and 4. Each lies in a
// byte of its own. Widen and Narrow of types.h take them: floats round to nearest even and stop at the largest finite
// number, integers wrap around. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_SMALL_TYPES_H_
#define SLIPWAY_CORE_KERNELS_SMALL_TYPES_H_

#include <stdint.h>

#include "core/kernels/call.h"
#include "core/kernels/types.h"

namespace slipway::kernels {

// What a format has beside finite numbers and both zeros.
enum class Special {
  kNone,
  kNan,           // All bits but the sign set are NaN.
  kNegativeZero,  // Negative zero is NaN.
  kInfinity,      // The highest exponent is infinity and NaN, as in IEEE 754.
};

template <int exponent_bits, int fraction_bits, int bias, Special special>
struct SmallFloat {
  uint8_t bits;

  SmallFloat() = default;
  explicit SmallFloat(double value) : SmallFloat(Rounded(value, /*saturate=*/true)) {}
  explicit operator double() const {
    const int magnitude = bits & (kSign - 1);
    const int exponent = magnitude >> fraction_bits;
    const int fraction = magnitude & ((1 << fraction_bits) - 1);
    const double sign = (bits & kSign) != 0 ? -1 : 1;
    if (special != Special::kNone && magnitude > kLargest) {
      return special == Special::kInfinity && fraction == 0 ? sign * __builtin_inf()
                                                            : __builtin_nan("");
    }
    if (special == Special::kNegativeZero && bits == kSign) return __builtin_nan("");
    const int lead = exponent == 0 ? 0 : 1 << fraction_bits;
    return sign * (lead + fraction) *
           PowerOfTwo((exponent == 0 ? 1 : exponent) - bias - fraction_bits);
  }

  // What is too large, and infinity, becomes the largest number where `saturate` and the format's infinity or NaN where
  // not. A format without either always saturates, and takes NaN for negative zero.
  static SmallFloat Rounded(double value, bool saturate) {
    const uint64_t double_bits = BitsOf(value);
    const int sign = static_cast<int>(double_bits >> 63) * kSign;
    if (value != value) return FromBits(special == Special::kNone ? kSign : NanOf(sign));
    const int exponent = static_cast<int>(double_bits >> 52 & 0x7ff) - 1023;
    int magnitude = kLargest + 1;
    if (exponent < -bias - fraction_bits) {
      magnitude = 0;  // Below half of the smallest one.
    } else if (exponent <= (1 << exponent_bits) - bias) {
      magnitude = static_cast<int>(RoundedMagnitude(double_bits, exponent));
    }
    if (magnitude > kLargest) {
      if (saturate || special == Special::kNone) return FromBits(sign | kLargest);
      return FromBits(special == Special::kInfinity ? sign | (kLargest + 1) : NanOf(sign));
    }
    if (special == Special::kNegativeZero && magnitude == 0) return FromBits(0);
    return FromBits(sign | magnitude);
  }

 private:
  static constexpr int kSign = 1 << (exponent_bits + fraction_bits);
  // The magnitude's bits that are the largest finite number.
  static constexpr int kLargest = special == Special::kInfinity ? kSign - 1 - (1 << fraction_bits)
                                  : special == Special::kNan    ? kSign - 2
                                                                : kSign - 1;

  static double PowerOfTwo(int exponent) {
    return DoubleOf(static_cast<uint64_t>(exponent + 1023) << 52);
  }
  static SmallFloat FromBits(int bits) {
    SmallFloat value;
    value.bits = static_cast<uint8_t>(bits);
    return value;
  }
  static int NanOf(int sign) {
    return special == Special::kNegativeZero ? kSign : sign | (kSign - 1);
  }
  // As if the highest exponent were one of numbers, too.
  static uint64_t RoundedMagnitude(uint64_t double_bits, int exponent) {
    const int normal = 1 - bias;
    const int lost = 52 - fraction_bits + (exponent < normal ? normal - exponent : 0);
    const uint64_t fraction = (double_bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
    uint64_t kept = fraction >> lost;
    const uint64_t rest = fraction & ((uint64_t{1} << lost) - 1);
    const uint64_t half = uint64_t{1} << (lost - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    // `kept` carries its leading 1 into the exponent, and so does a rounding that overflows.
    if (exponent >= normal) kept += static_cast<uint64_t>(exponent - normal) << fraction_bits;
    return kept;
  }
};

using Float8E4M3Fn = SmallFloat<4, 3, 7, Special::kNan>;
using Float8E4M3FnUz = SmallFloat<4, 3, 8, Special::kNegativeZero>;
using Float8E5M2 = SmallFloat<5, 2, 15, Special::kInfinity>;
using Float8E5M2FnUz = SmallFloat<5, 2, 16, Special::kNegativeZero>;
using Float6E2M3 = SmallFloat<2, 3, 1, Special::kNone>;
using Float6E3M2 = SmallFloat<3, 2, 3, Special::kNone>;
using Float4E2M1 = SmallFloat<2, 1, 1, Special::kNone>;

// 2^(bits - 127); 255 is NaN.
struct Float8E8M0 {
  enum class Rounding : int64_t { kUp = 0, kDown = 1, kNearest = 2 };  // Of the value; ties up.
  static constexpr uint8_t kNan = 255;

  uint8_t bits;

  Float8E8M0() = default;
  explicit Float8E8M0(double value) : Float8E8M0(Rounded(value, Rounding::kUp, true)) {}
  explicit operator double() const {
    return bits == kNan ? __builtin_nan("") : DoubleOf(static_cast<uint64_t>(bits + 896) << 52);
  }

  // What is out of range, zero and infinity become the nearest number where `saturate` and NaN where not. Negative
  // numbers become NaN.
  static Float8E8M0 Rounded(double value, Rounding rounding, bool saturate) {
    Float8E8M0 result;
    result.bits = kNan;
    if (value != value || value < 0) return result;
    const uint64_t fraction = BitsOf(value) & ((uint64_t{1} << 52) - 1);
    int exponent = static_cast<int>(BitsOf(value) >> 52 & 0x7ff) - 1023 + 127;
    if (rounding == Rounding::kUp) exponent += fraction != 0;
    if (rounding == Rounding::kNearest) exponent += fraction >> 51 != 0;
    const bool fits = exponent >= 0 && exponent < kNan;
    if (fits || saturate) {
      result.bits = static_cast<uint8_t>(exponent < 0 ? 0 : exponent < kNan ? exponent : kNan - 1);
    }
    return result;
  }
};

template <int bit_count, bool is_signed>
struct SmallInteger {
  uint8_t bits;  // The value, as a byte of two's complement.

  SmallInteger() = default;
  explicit SmallInteger(int64_t value) {
    const int low = static_cast<int>(value & ((1 << bit_count) - 1));
    const bool negative = is_signed && (low >> (bit_count - 1)) != 0;
    bits = static_cast<uint8_t>(negative ? low - (1 << bit_count) : low);
  }
  explicit operator int64_t() const {
    return is_signed ? static_cast<int64_t>(static_cast<int8_t>(bits)) : static_cast<int64_t>(bits);
  }
};

using Int4 = SmallInteger<4, true>;
using Uint4 = SmallInteger<4, false>;
using Int2 = SmallInteger<2, true>;
using Uint2 = SmallInteger<2, false>;

template <int exponent_bits, int fraction_bits, int bias, Special special>
struct Width<SmallFloat<exponent_bits, fraction_bits, bias, special>> {
  using Wide = double;
};
template <>
struct Width<Float8E8M0> {
  using Wide = double;
};

template <typename T>
inline constexpr int kIntegerBits = 8 * static_cast<int>(sizeof(T));
template <int bits, bool is_signed>
inline constexpr int kIntegerBits<SmallInteger<bits, is_signed>> = bits;

// The element nearest to a whole number; NaN becomes the lowest. For integers of up to 32 bits.
template <typename T>
T Saturated(double x) {
  const bool is_signed = Widen(Narrow<T>(-1)) < 0;
  const int64_t count = int64_t{1} << kIntegerBits<T>;
  const int64_t lowest = is_signed ? -count / 2 : 0;
  const int64_t highest = lowest + count - 1;
  if (!(x > static_cast<double>(lowest))) return Narrow<T>(lowest);
  if (x > static_cast<double>(highest)) return Narrow<T>(highest);
  return Narrow<T>(static_cast<int64_t>(x));
}

// function(T()) with the element type T of `type`, one of this file.
template <typename Function>
int32_t DispatchSmall(const Call& call, Type type, Function function) {
  switch (type) {
    case Type::kFloat8E4M3Fn:
      return function(Float8E4M3Fn());
    case Type::kFloat8E4M3FnUz:
      return function(Float8E4M3FnUz());
    case Type::kFloat8E5M2:
      return function(Float8E5M2());
    case Type::kFloat8E5M2FnUz:
      return function(Float8E5M2FnUz());
    case Type::kFloat8E8M0:
      return function(Float8E8M0());
    case Type::kFloat6E2M3:
      return function(Float6E2M3());
    case Type::kFloat6E3M2:
      return function(Float6E3M2());
    case Type::kFloat4E2M1:
      return function(Float4E2M1());
    case Type::kInt4:
      return function(Int4());
    case Type::kUint4:
      return function(Uint4());
    case Type::kInt2:
      return function(Int2());
    case Type::kUint2:
      return function(Uint2());
    default:
      return call.Fail("there is no kernel for elements of this type");
  }
}

// The same with DispatchAny's types.
template <typename Function>
int32_t DispatchReal(const Call& call, Type type, Function function) {
  if (type >= Type::kFloat8E4M3Fn) return DispatchSmall(call, type, function);
  return DispatchAny(call, type, function);
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_SMALL_TYPES_H_
