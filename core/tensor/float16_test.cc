#include "core/tensor/float16.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace slipway {
namespace {

// IEEE 754's definition: (-1)^sign * 2^(exponent - 15) * 1.fraction, or 2^-14 * 0.fraction.
float Reference(uint16_t bits) {
  const double sign = bits >> 15 == 0 ? 1.0 : -1.0;
  const int exponent = (bits >> 10) & 31;
  const double fraction = (bits & 1023) / 1024.0;
  if (exponent == 31) {
    return fraction == 0 ? static_cast<float>(sign * std::numeric_limits<double>::infinity())
                         : std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return static_cast<float>(sign * std::pow(2.0, -14) * fraction);
  return static_cast<float>(sign * std::pow(2.0, exponent - 15) * (1 + fraction));
}

TEST(Float16Test, EveryHalfConvertsAndComesBack) {
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const float expected = Reference(bits);
    const float actual = Float16ToFloat(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << i;
      EXPECT_TRUE(std::isnan(Float16ToFloat(FloatToFloat16(actual)))) << i;
    } else {
      EXPECT_EQ(actual, expected) << i;
      EXPECT_EQ(FloatToFloat16(actual), bits) << i;
    }
  }
}

TEST(Float16Test, RoundsHalfWaysToEvenBetweenAllNeighbours) {
  for (uint32_t i = 0; i < 0x7bff; ++i) {
    const uint16_t low = static_cast<uint16_t>(i);
    const uint16_t high = static_cast<uint16_t>(i + 1);
    const float middle = (Reference(low) + Reference(high)) / 2;
    EXPECT_EQ(FloatToFloat16(middle), i % 2 == 0 ? low : high) << i;
    EXPECT_EQ(FloatToFloat16(std::nextafter(middle, 0.0f)), low) << i;
    EXPECT_EQ(FloatToFloat16(std::nextafter(middle, 1e30f)), high) << i;
    EXPECT_EQ(FloatToFloat16(-middle), (i % 2 == 0 ? low : high) | 0x8000) << i;
  }
}

TEST(Float16Test, OverflowsToInfinity) {
  EXPECT_EQ(FloatToFloat16(65504.0f), 0x7bff);
  EXPECT_EQ(FloatToFloat16(65519.99f), 0x7bff);
  EXPECT_EQ(FloatToFloat16(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToFloat16(1e30f), 0x7c00);
  EXPECT_EQ(FloatToFloat16(-std::numeric_limits<float>::infinity()), 0xfc00);
}

TEST(Bfloat16Test, ConvertsAndRounds) {
  EXPECT_EQ(Bfloat16ToFloat(0x3f80), 1.0f);
  EXPECT_EQ(FloatToBfloat16(1.0f), 0x3f80);
  EXPECT_EQ(FloatToBfloat16(1.00390625f), 0x3f80);  // Half way, 0x3f80 is even.
  EXPECT_EQ(FloatToBfloat16(1.01171875f), 0x3f82);  // Half way, 0x3f81 is odd.
  EXPECT_EQ(FloatToBfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(std::nanf("")))));
}

}  // namespace
}  // namespace slipway
