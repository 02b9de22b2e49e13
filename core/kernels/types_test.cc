#include "core/kernels/types.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/tensor/float16.h"
#include "gtest/gtest.h"

namespace slipway::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(TypesTest, WideningIsWhatTheCoreDoes) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    for (const auto& [wide, expected] :
         {std::pair<double, float>(Widen(Float16{half}), Float16ToFloat(half)),
          std::pair<double, float>(Widen(Bfloat16{half}), Bfloat16ToFloat(half))}) {
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(wide)) << bits;
      } else {
        EXPECT_EQ(wide, expected) << bits;
        EXPECT_EQ(std::signbit(wide), std::signbit(expected)) << bits;
      }
    }
  }
}

TEST(TypesTest, WhatWasWidenedIsNarrowedBack) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (!std::isnan(Widen(Float16{half})))
      EXPECT_EQ(Narrow<Float16>(Widen(Float16{half})).bits, half);
    if (!std::isnan(Widen(Bfloat16{half})))
      EXPECT_EQ(Narrow<Bfloat16>(Widen(Bfloat16{half})).bits, half);
  }
  EXPECT_TRUE(std::isnan(Widen(Narrow<Float16>(kNan))));
  EXPECT_TRUE(std::isnan(Widen(Narrow<Bfloat16>(-kNan))));
}

// Of floats, which the core narrows by other means.
TEST(TypesTest, RoundsToNearestEven) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    const float value = FloatOf(static_cast<uint32_t>(random()));
    if (std::isnan(value)) continue;
    ASSERT_EQ(Narrow<Float16>(value).bits, FloatToFloat16(value)) << value;
    ASSERT_EQ(Narrow<Bfloat16>(value).bits, FloatToBfloat16(value)) << value;
  }
}

TEST(TypesTest, RoundsDoublesOnce) {
  // A little above the middle of 1 and the next half, by less than a float can tell.
  EXPECT_EQ(Narrow<Float16>(1 + std::ldexp(1, -11) + std::ldexp(1, -40)).bits, 0x3c01);
  EXPECT_EQ(Narrow<Float16>(1 + std::ldexp(1, -11)).bits, 0x3c00);
  EXPECT_EQ(Narrow<Bfloat16>(1 + std::ldexp(1, -8) + std::ldexp(1, -40)).bits, 0x3f81);
  EXPECT_EQ(Narrow<Float16>(std::ldexp(1, -25)).bits, 0);
  EXPECT_EQ(Narrow<Float16>(std::ldexp(1.5, -25)).bits, 1);
  EXPECT_EQ(Narrow<Float16>(1e300).bits, 0x7c00);
  EXPECT_EQ(Narrow<Float16>(-65520).bits, 0xfc00);
  EXPECT_EQ(Narrow<Float16>(65519).bits, 0x7bff);
}

TEST(TypesTest, IntegersWrapAround) {
  EXPECT_EQ(Narrow<int8_t>(200), -56);
  EXPECT_EQ(Narrow<uint8_t>(-1), 255);
  EXPECT_EQ(Narrow<bool>(2), true);
}

}  // namespace
}  // namespace slipway::kernels
