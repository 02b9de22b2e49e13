#include "core/kernels/small_types.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/small_float.h"
#include "gtest/gtest.h"

namespace slipway::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The elements of a float type, with their values as the core reads them.
template <typename T>
std::vector<std::pair<T, double>> Elements(DataType dtype) {
  std::vector<std::pair<T, double>> elements;
  for (int bits = 0; bits < 1 << BitSize(dtype); ++bits) {
    T element;
    element.bits = static_cast<uint8_t>(bits);
    elements.emplace_back(element, SmallFloatToFloat(dtype, element.bits));
  }
  return elements;
}

template <typename T>
void ExpectWidensAsTheCore(DataType dtype) {
  for (const auto& [element, value] : Elements<T>(dtype)) {
    const double wide = Widen(element);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(wide)) << int{element.bits};
      continue;
    }
    EXPECT_EQ(wide, value) << int{element.bits};
    EXPECT_EQ(std::signbit(wide), std::signbit(value)) << int{element.bits};
    EXPECT_EQ(Narrow<T>(wide).bits, std::isinf(value) ? element.bits - 1 : element.bits);
  }
}

// Of all numbers the nearest, and of two that are as near the one whose last bit is 0.
template <typename T>
void ExpectRoundsToNearestEven(DataType dtype) {
  const auto elements = Elements<T>(dtype);
  double largest = 0;
  for (const auto& [element, value] : elements) {
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  for (double x = -largest; x <= largest; x += largest / 3001) {
    double best = kInf;
    uint8_t bits = 0;
    for (const auto& [element, value] : elements) {
      if (!std::isfinite(value) || std::signbit(value) != std::signbit(x)) continue;
      const double away = std::fabs(value - x);
      if (away < best || (away == best && (element.bits & 1) == 0)) {
        best = away;
        bits = element.bits;
      }
    }
    // Where there is no negative zero, small negative numbers become zero.
    const double found = Widen(Narrow<T>(x));
    EXPECT_LE(std::fabs(found - x), best) << x;
    if (found != 0) EXPECT_EQ(Narrow<T>(x).bits, bits) << x;
  }
}

TEST(SmallTypesTest, FloatsAreWhatTheCoreSaysAndComeBack) {
  ExpectWidensAsTheCore<Float8E4M3Fn>(DataType::kFloat8E4M3Fn);
  ExpectWidensAsTheCore<Float8E4M3FnUz>(DataType::kFloat8E4M3FnUz);
  ExpectWidensAsTheCore<Float8E5M2>(DataType::kFloat8E5M2);
  ExpectWidensAsTheCore<Float8E5M2FnUz>(DataType::kFloat8E5M2FnUz);
  ExpectWidensAsTheCore<Float8E8M0>(DataType::kFloat8E8M0);
  ExpectWidensAsTheCore<Float6E2M3>(DataType::kFloat6E2M3);
  ExpectWidensAsTheCore<Float6E3M2>(DataType::kFloat6E3M2);
  ExpectWidensAsTheCore<Float4E2M1>(DataType::kFloat4E2M1);
}

TEST(SmallTypesTest, RoundsToNearestEven) {
  ExpectRoundsToNearestEven<Float8E4M3Fn>(DataType::kFloat8E4M3Fn);
  ExpectRoundsToNearestEven<Float8E4M3FnUz>(DataType::kFloat8E4M3FnUz);
  ExpectRoundsToNearestEven<Float8E5M2>(DataType::kFloat8E5M2);
  ExpectRoundsToNearestEven<Float8E5M2FnUz>(DataType::kFloat8E5M2FnUz);
  ExpectRoundsToNearestEven<Float6E2M3>(DataType::kFloat6E2M3);
  ExpectRoundsToNearestEven<Float6E3M2>(DataType::kFloat6E3M2);
  ExpectRoundsToNearestEven<Float4E2M1>(DataType::kFloat4E2M1);
}

TEST(SmallTypesTest, WhatIsTooLargeSaturatesOrNot) {
  EXPECT_EQ(Float8E4M3Fn::Rounded(464, false).bits, 0x7e);  // A tie with what would be 480.
  EXPECT_EQ(Float8E4M3Fn::Rounded(465, true).bits, 0x7e);
  EXPECT_EQ(Float8E4M3Fn::Rounded(-465, false).bits, 0xff);
  EXPECT_EQ(Float8E4M3Fn::Rounded(kInf, true).bits, 0x7e);
  EXPECT_EQ(Float8E4M3FnUz::Rounded(1e300, true).bits, 0x7f);
  EXPECT_EQ(Float8E4M3FnUz::Rounded(1e300, false).bits, 0x80);
  EXPECT_EQ(Float8E5M2::Rounded(-kInf, true).bits, 0xfb);
  EXPECT_EQ(Float8E5M2::Rounded(-kInf, false).bits, 0xfc);
  EXPECT_EQ(Float4E2M1::Rounded(-9, false).bits, 0xf);
}

TEST(SmallTypesTest, NanAndZero) {
  EXPECT_EQ(Narrow<Float8E4M3Fn>(kNan).bits & 0x7f, 0x7f);
  EXPECT_EQ(Narrow<Float8E5M2FnUz>(kNan).bits, 0x80);
  EXPECT_EQ(Narrow<Float8E5M2FnUz>(-0.0).bits, 0);
  EXPECT_EQ(Narrow<Float8E5M2FnUz>(-1e-30).bits, 0);
  EXPECT_EQ(Narrow<Float8E5M2>(-0.0).bits, 0x80);
  EXPECT_EQ(Narrow<Float4E2M1>(kNan).bits, 8);
}

TEST(SmallTypesTest, PowersOfTwoRoundAsAsked) {
  using R = Float8E8M0::Rounding;
  EXPECT_EQ(Float8E8M0::Rounded(1.1, R::kUp, true).bits, 128);
  EXPECT_EQ(Float8E8M0::Rounded(1.9, R::kDown, true).bits, 127);
  EXPECT_EQ(Float8E8M0::Rounded(1.5, R::kNearest, true).bits, 128);
  EXPECT_EQ(Float8E8M0::Rounded(1.4, R::kNearest, true).bits, 127);
  EXPECT_EQ(Float8E8M0::Rounded(0, R::kUp, true).bits, 0);
  EXPECT_EQ(Float8E8M0::Rounded(0, R::kNearest, false).bits, 255);
  EXPECT_EQ(Float8E8M0::Rounded(1e300, R::kUp, true).bits, 254);
  EXPECT_EQ(Float8E8M0::Rounded(kInf, R::kUp, false).bits, 255);
  EXPECT_EQ(Float8E8M0::Rounded(-1, R::kUp, true).bits, 255);
}

TEST(SmallTypesTest, IntegersWrapAround) {
  EXPECT_EQ(Widen(Narrow<Int4>(8)), -8);
  EXPECT_EQ(Narrow<Int4>(-1).bits, 0xff);
  EXPECT_EQ(Widen(Narrow<Int4>(-9)), 7);
  EXPECT_EQ(Widen(Narrow<Uint4>(-1)), 15);
  EXPECT_EQ(Widen(Narrow<Int2>(2)), -2);
  EXPECT_EQ(Widen(Narrow<Uint2>(7)), 3);
}

}  // namespace
}  // namespace slipway::kernels
