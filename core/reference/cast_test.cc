// Cast against values worked out by hand. ONNX's own cases cover most pairs of types.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(CastTest, FloatsOutOfAnIntegersRangeSaturate) {
  const char* x = "const %x: f32[5] = {300.7, -300.7, nan, inf, -1.9}";
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 3}"), "i8[5] = {127, -128, 0, 127, -1}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 2}"), "u8[5] = {255, 0, 0, 255, 0}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 7}"),
            "i64[5] = {300, -300, 0, 9223372036854775807, -1}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 13}"),
            "u64[5] = {300, 0, 0, 18446744073709551615, 0}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 9}"), "bool[5] = splat true");
}

TEST(CastTest, IntegersLoseTheirHigherBits) {
  const char* x = "const %x: i16[4] = {200, -129, 7, -8}";
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 3}"), "i8[4] = {-56, 127, 7, -8}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 13}"),
            "u64[4] = {200, 18446744073709551487, 7, 18446744073709551608}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 22}"), "i4[4] = {-8, -1, 7, -8}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 21}"), "u4[4] = {8, 15, 7, 8}");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 26}"), "i2[4] = {0, -1, -1, 0}");
}

TEST(CastTest, IntegersRoundOnce) {
  // 2^53 + 2^45 + 1: by way of a double, bf16 would see the tie 2^53 + 2^45 and round it down.
  EXPECT_EQ(ValuesOf("const %x: i64[2] = {9042383626829825, -9042383626829825}",
                     "%y = Cast(%x) {to = 16}"),
            "bf16[2] = hex \"015a01da\"");
  EXPECT_EQ(ValuesOf("const %x: u64[1] = {18446744073709551615}", "%y = Cast(%x) {to = 1}"),
            "f32[1] = {1.8446744e+19}");
}

TEST(CastTest, SmallFloatsSaturateOrNot) {
  const char* x = "const %x: f32[3] = {1000, -inf, 0.1}";
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 17}"), "f8e4m3fn[3] = hex \"7efe1d\"");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 17, saturate = 0}"), "f8e4m3fn[3] = hex \"7fff1d\"");
  EXPECT_EQ(ValuesOf(x, "%y = Cast(%x) {to = 24, round_mode = \"down\"}"),
            "f8e8m0[3] = hex \"88ff7b\"");
  EXPECT_THAT(ValuesOf(x, "%y = Cast(%x) {to = 24, round_mode = \"even\"}"),
              HasSubstr("\"round_mode\" is \"even\""));
  EXPECT_EQ(ValuesOf("const %x: f8e4m3fn[2] = hex \"7ebb\"", "%y = Cast(%x) {to = 1}"),
            "f32[2] = {448, -1.375}");
}

TEST(CastTest, CastLikeTakesTheTypeAlone) {
  EXPECT_EQ(
      ValuesOf("const %x: f64[2] = {1.5, 2.5}\nconst %l: i32[0] = {}", "%y = CastLike(%x, %l)"),
      "i32[2] = {1, 2}");
}

TEST(CastTest, ComplexNumbersAreNotCast) {
  EXPECT_THAT(ValuesOf("const %x: f32[1] = {1}", "%y = Cast(%x) {to = 14}"),
              HasSubstr("casting f32 to c64 is not supported"));
}

}  // namespace
}  // namespace slipway
