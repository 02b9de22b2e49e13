// Element types, as kernels that are linked into artifacts see them. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_TYPES_H_
#define SLIPWAY_CORE_KERNELS_TYPES_H_

#include <stdint.h>

namespace slipway::kernels {

// The numbers of core/tensor/dtype.h's DataType; kNone where a node omits an operand.
enum class Type : int64_t {
  kNone = 0,
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  // Those of small_types.h.
  kFloat8E4M3Fn = 17,
  kFloat8E4M3FnUz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FnUz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};

inline uint32_t BitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }
inline float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint64_t BitsOf(double value) { return __builtin_bit_cast(uint64_t, value); }
inline double DoubleOf(uint64_t bits) { return __builtin_bit_cast(double, bits); }

// What is moved and has no arithmetic: not every architecture has integers of 128 bits.
struct Bits128 {
  uint64_t halves[2];
};

struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

namespace internal {

// A double as a binary number with `exponent_bits` and `fraction_bits`, rounded to nearest, ties to even, in one step: by
// way of float it would be rounded twice. Too large becomes infinity, NaN a quiet NaN.
template <int exponent_bits, int fraction_bits>
uint16_t Narrow16(double value) {
  constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  constexpr uint16_t kInfinity = ((1 << exponent_bits) - 1) << fraction_bits;
  const uint64_t bits = BitsOf(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 63 << (exponent_bits + fraction_bits));
  if (value != value) return sign | kInfinity | (1 << (fraction_bits - 1));
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent > kBias) return sign | kInfinity;
  if (exponent < -kBias - fraction_bits) return sign;  // Below half of the smallest one.
  // Numbers under 2^(1 - kBias) have fewer bits.
  const int lost = 52 - fraction_bits + (exponent < 1 - kBias ? 1 - kBias - exponent : 0);
  const uint64_t fraction = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  uint64_t kept = fraction >> lost;
  const uint64_t rest = fraction & ((uint64_t{1} << lost) - 1);
  const uint64_t half = uint64_t{1} << (lost - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // `kept` carries its leading 1 into the exponent, and so does a rounding that overflows.
  if (exponent >= 1 - kBias) kept += static_cast<uint64_t>(exponent + kBias - 1) << fraction_bits;
  return sign | static_cast<uint16_t>(kept);
}

template <int exponent_bits, int fraction_bits>
double Widen16(uint16_t bits) {
  constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  constexpr int kHighest = (1 << exponent_bits) - 1;
  const uint64_t sign = static_cast<uint64_t>(bits >> (exponent_bits + fraction_bits)) << 63;
  const int exponent = bits >> fraction_bits & kHighest;
  const uint64_t fraction = bits & ((1 << fraction_bits) - 1);
  if (exponent == kHighest) {
    return DoubleOf(sign | uint64_t{0x7ff} << 52 | fraction << (52 - fraction_bits));
  }
  if (exponent == 0) {
    const double unit = DoubleOf(static_cast<uint64_t>(1023 + 1 - kBias - fraction_bits) << 52);
    const double magnitude = static_cast<double>(fraction) * unit;
    return sign != 0 ? -magnitude : magnitude;
  }
  return DoubleOf(sign | static_cast<uint64_t>(exponent - kBias + 1023) << 52 |
                  fraction << (52 - fraction_bits));
}

}  // namespace internal

// WideOf<T> is what a type is computed in: double for every kind of float, int64_t for integers and bool, uint64_t for
// uint64_t. Widen is exact. Narrow rounds floats to nearest; integers wrap around.
template <typename T>
struct Width {
  using Wide = int64_t;
};
template <>
struct Width<uint64_t> {
  using Wide = uint64_t;
};
template <>
struct Width<float> {
  using Wide = double;
};
template <>
struct Width<double> {
  using Wide = double;
};
template <>
struct Width<Float16> {
  using Wide = double;
};
template <>
struct Width<Bfloat16> {
  using Wide = double;
};
template <typename T>
using WideOf = typename Width<T>::Wide;

template <typename T>
inline WideOf<T> Widen(T value) {
  return static_cast<WideOf<T>>(value);
}
inline double Widen(Float16 value) { return internal::Widen16<5, 10>(value.bits); }
inline double Widen(Bfloat16 value) { return internal::Widen16<8, 7>(value.bits); }

template <typename T>
inline T Narrow(WideOf<T> value) {
  return static_cast<T>(value);
}
template <>
inline bool Narrow<bool>(int64_t value) {
  return value != 0;
}
template <>
inline Float16 Narrow<Float16>(double value) {
  return {internal::Narrow16<5, 10>(value)};
}
template <>
inline Bfloat16 Narrow<Bfloat16>(double value) {
  return {internal::Narrow16<8, 7>(value)};
}

template <typename T>
inline constexpr bool kIsFloat = __is_same(WideOf<T>, double);

// Bytes of an element; 0 for kNone.
inline int64_t ByteSize(Type type) {
  switch (type) {
    case Type::kNone:
      return 0;
    case Type::kUint8:
    case Type::kInt8:
    case Type::kBool:
    case Type::kFloat8E4M3Fn:
    case Type::kFloat8E4M3FnUz:
    case Type::kFloat8E5M2:
    case Type::kFloat8E5M2FnUz:
    case Type::kUint4:
    case Type::kInt4:
    case Type::kFloat4E2M1:
    case Type::kFloat8E8M0:
    case Type::kUint2:
    case Type::kInt2:
    case Type::kFloat6E2M3:
    case Type::kFloat6E3M2:
      return 1;
    case Type::kUint16:
    case Type::kInt16:
    case Type::kFloat16:
    case Type::kBfloat16:
      return 2;
    case Type::kFloat32:
    case Type::kInt32:
    case Type::kUint32:
      return 4;
    case Type::kFloat64:
    case Type::kInt64:
    case Type::kUint64:
    case Type::kComplex64:
      return 8;
    case Type::kComplex128:
      return 16;
  }
  return 0;
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_TYPES_H_
