#include "core/tensor/small_float.h"

#include <cmath>
#include <limits>

namespace slipway {
namespace {

// What the bits that say nothing of a number are for.
enum class Special {
  kNone,
  kNan,           // All bits but the sign: NaN.
  kNegativeZero,  // Negative zero is NaN.
  kInfinity,      // As in IEEE 754.
};

struct Format {
  DataType dtype;
  int exponent_bits;
  int fraction_bits;
  int bias;
  Special special;
};

constexpr Format kFormats[] = {
    {DataType::kFloat8E4M3Fn, 4, 3, 7, Special::kNan},
    {DataType::kFloat8E4M3FnUz, 4, 3, 8, Special::kNegativeZero},
    {DataType::kFloat8E5M2, 5, 2, 15, Special::kInfinity},
    {DataType::kFloat8E5M2FnUz, 5, 2, 16, Special::kNegativeZero},
    {DataType::kFloat4E2M1, 2, 1, 1, Special::kNone},
    {DataType::kFloat6E2M3, 2, 3, 1, Special::kNone},
    {DataType::kFloat6E3M2, 3, 2, 3, Special::kNone},
};

const Format* Find(DataType dtype) {
  for (const Format& format : kFormats) {
    if (format.dtype == dtype) return &format;
  }
  return nullptr;
}

}  // namespace

bool IsSmallFloat(DataType dtype) {
  return dtype == DataType::kFloat8E8M0 || Find(dtype) != nullptr;
}

float SmallFloatToFloat(DataType dtype, uint8_t bits) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (dtype == DataType::kFloat8E8M0) return bits == 255 ? kNan : std::ldexp(1.0f, bits - 127);
  const Format& format = *Find(dtype);
  const int magnitude_bits = format.exponent_bits + format.fraction_bits;
  const int magnitude = bits & ((1 << magnitude_bits) - 1);
  const int exponent = magnitude >> format.fraction_bits;
  const int fraction = magnitude & ((1 << format.fraction_bits) - 1);
  const float sign = bits >> magnitude_bits != 0 ? -1 : 1;
  if (format.special == Special::kNan && magnitude == (1 << magnitude_bits) - 1) return kNan;
  if (format.special == Special::kNegativeZero && magnitude == 0 && sign < 0) return kNan;
  if (format.special == Special::kInfinity && exponent == (1 << format.exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : kNan;
  }
  const int significand = exponent == 0 ? fraction : fraction + (1 << format.fraction_bits);
  const int unit = (exponent == 0 ? 1 : exponent) - format.bias - format.fraction_bits;
  return sign * std::ldexp(static_cast<float>(significand), unit);
}

}  // namespace slipway
