// Quantization, and products of what is quantized, against values worked out by hand.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(QuantizationTest, RoundsToEvenAndSaturates) {
  const char* x =
      "const %x: f32[6] = {0.5, 1.5, -3, 1000, -inf, nan}\n"
      "const %s: f32[] = {1}\nconst %z: i8[] = {2}";
  EXPECT_EQ(ValuesOf(x, "%y = QuantizeLinear(%x, %s, %z)"), "i8[6] = {2, 4, -1, 127, -128, 2}");
  EXPECT_EQ(ValuesOf(x, "%y = QuantizeLinear(%x, %s)"), "u8[6] = {0, 2, 0, 255, 0, 0}");
  EXPECT_EQ(ValuesOf(x, "%y = QuantizeLinear(%x, %s) {output_dtype = 26}"),
            "i2[6] = {0, 1, -2, 1, -2, 0}");
}

TEST(QuantizationTest, BlocksEndWithTheAxis) {
  const char* x =
      "const %x: i8[2, 3] = {1, 2, 3, 4, 5, 6}\nconst %s: f32[2, 2] = {1, 10, 100, 1000}";
  EXPECT_EQ(ValuesOf(x, "%y = DequantizeLinear(%x, %s) {axis = 1, block_size = 2}"),
            "f32[2, 3] = {1, 2, 30, 400, 500, 6000}");
  EXPECT_THAT(ValuesOf(x, "%y = DequantizeLinear(%x, %s) {axis = 0, block_size = 2}"),
              HasSubstr("does not fit [2, 3] along axis 0 in blocks of 2"));
  EXPECT_THAT(ValuesOf(x, "%y = DequantizeLinear(%x, %s) {block_size = -1}"),
              HasSubstr("\"block_size\" is -1"));
}

TEST(QuantizationTest, PrecisionRoundsTheQuotient) {
  // 2049 is no half: it becomes 2048, of which the quotient is 2048 / 2 = 1024 = 0x400.
  const char* x = "const %x: f32[1] = {2049}\nconst %s: f32[] = {2}\nconst %z: u16[] = {0}";
  EXPECT_EQ(ValuesOf(x, "%y = QuantizeLinear(%x, %s, %z) {precision = 10}"), "u16[1] = {1024}");
  EXPECT_EQ(ValuesOf("const %x: f32[1] = {2051}\nconst %s: f32[] = {2}\nconst %z: u16[] = {0}",
                     "%y = QuantizeLinear(%x, %s, %z) {precision = 10}"),
            "u16[1] = {1026}");
}

TEST(QuantizationTest, ZeroPointsAreOfTheOutputsType) {
  EXPECT_THAT(ValuesOf("const %x: f32[1] = {1}\nconst %s: f32[] = {1}\nconst %z: i8[] = {0}",
                       "%y = QuantizeLinear(%x, %s, %z) {output_dtype = 2}"),
              HasSubstr("\"output_dtype\" is u8, the zero point (input 2) is i8"));
  EXPECT_THAT(ValuesOf("const %x: u8[1] = {1}\nconst %s: f32[] = {1}\nconst %z: i8[] = {0}",
                       "%y = DequantizeLinear(%x, %s, %z)"),
              HasSubstr("the zero point (input 2) is i8, x is u8"));
}

// The first number is that of the least code.
TEST(QuantizationTest, LooksUpByCodes) {
  std::string table = "-3";
  for (int i = 1; i < 256; ++i) absl::StrAppend(&table, ", ", i / 2);
  const std::string node = absl::StrCat("%y = slipway.Lookup(%x) {to = 3, table = [", table, "]}");
  EXPECT_EQ(ValuesOf("const %x: u8[4] = {0, 1, 128, 255}", node), "i8[4] = {-3, 0, 64, 127}");
  EXPECT_EQ(ValuesOf("const %x: i8[4] = {-128, -127, 0, 127}", node), "i8[4] = {-3, 0, 64, 127}");
  EXPECT_THAT(ValuesOf("const %x: u8[1] = {0}", absl::StrReplaceAll(node, {{"to = 3", "to = 2"}})),
              HasSubstr("\"table\" has -3, which u8 does not hold"));
  EXPECT_THAT(ValuesOf("const %x: u8[1] = {0}", "%y = slipway.Lookup(%x) {to = 3, table = [1, 2]}"),
              HasSubstr("has 2 numbers where 256 are needed"));
  EXPECT_THAT(ValuesOf("const %x: i16[1] = {0}", node), HasSubstr("i16"));
}

TEST(QuantizationTest, ARangeOfNothingIsOne) {
  EXPECT_EQ(ValuesOf("const %x: f32[2] = {0, 0}", "%y, %s, %z = DynamicQuantizeLinear(%x)"),
            "u8[2] = {0, 0}; f32[] = {0.003921569}; u8[] = {0}");
  EXPECT_EQ(ValuesOf("const %x: f32[0] = {}", "%y = DynamicQuantizeLinear(%x)"), "u8[0] = {}");
}

TEST(QuantizedTest, SumsWrapAroundAndPaddingIsTheZeroPoint) {
  // One window of 3 over 2 elements and padding: (1 - 2) * 5 + (4 - 2) * 6, the padding counts as 2 - 2.
  EXPECT_EQ(ValuesOf("const %x: u8[1, 1, 2] = {1, 4}\nconst %w: i8[1, 1, 3] = {4, 5, 7}\n"
                     "const %z: u8[] = {2}",
                     "%y = ConvInteger(%x, %w, %z) {pads = [1, 0]}"),
            "i32[1, 1, 1] = {9}");
}

TEST(QuantizedTest, ZeroPointsOfRowsAndColumns) {
  const char* ab =
      "const %a: u8[2, 2] = {1, 2, 3, 4}\nconst %b: u8[2, 1] = {10, 20}\n"
      "const %za: u8[2] = {1, 3}\nconst %zb: u8[1] = {10}\nconst %bad: u8[3] = {1, 1, 1}";
  EXPECT_EQ(ValuesOf(ab, "%y = MatMulInteger(%a, %b, %za, %zb)"), "i32[2, 1] = {10, 10}");
  EXPECT_THAT(ValuesOf(ab, "%y = MatMulInteger(%a, %b, %bad)"),
              HasSubstr("input 2 of shape [3] is neither one number nor 2 of them"));
}

TEST(QuantizedTest, ResultsAreScaledAndSaturate) {
  const char* operands =
      "const %a: i8[1, 2] = {100, 100}\nconst %b: i8[2, 2] = {100, 1, 100, 0}\n"
      "const %s: f32[] = {0.5}\nconst %z: i8[] = {0}\nconst %zy: i8[] = {3}";
  // 100 * 0.5 * 0.5 / 0.5 + 3
  EXPECT_EQ(ValuesOf(operands, "%y = QLinearMatMul(%a, %s, %z, %b, %s, %z, %s, %zy)"),
            "i8[1, 2] = {127, 53}");
}

}  // namespace
}  // namespace slipway
