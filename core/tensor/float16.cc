#include "core/tensor/float16.h"

#include <bit>
#include <cmath>

namespace slipway {
namespace {

constexpr uint32_t kFloatInfinity = 0x7f800000;
// 2^16, the first power of two that a half cannot hold, and 2^-14, its smallest normal number.
constexpr uint32_t kTwoTo16 = 0x47800000;
constexpr uint32_t kTwoToMinus14 = 0x38800000;

}  // namespace

float Float16ToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | kFloatInfinity | fraction << 13);
  if (exponent == 0) {  // Zero or subnormal: fraction * 2^-24, which a float holds exactly.
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | (exponent + (127 - 15)) << 23 | fraction << 13);
}

uint16_t FloatToFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > kFloatInfinity) {
    return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  }
  if (magnitude >= kTwoTo16) return sign | 0x7c00;
  if (magnitude < kTwoToMinus14) {
    // Adding 0.5 lets the hardware round to multiples of 2^-24, the spacing of subnormal halves.
    const uint32_t rounded =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
    return static_cast<uint16_t>(sign | rounded);
  }
  const uint32_t rebased = magnitude - ((127 - 15) << 23);
  // Half a unit in the last place less one, and one more when the last bit is odd: ties to even. A
  // carry runs into the exponent, and from the largest number into infinity.
  return static_cast<uint16_t>(sign | (rebased + 0xfff + ((rebased >> 13) & 1)) >> 13);
}

float Bfloat16ToFloat(uint16_t brain) {
  return std::bit_cast<float>(static_cast<uint32_t>(brain) << 16);
}

uint16_t FloatToBfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > kFloatInfinity) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace slipway
