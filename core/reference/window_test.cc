// Windows that slide, and what spreads: cases that ONNX's own leave out.
#include <string>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(WindowTest, PaddingAsWideAsAKernelKeepsEveryOutput) {
  EXPECT_EQ(ValuesOf("const %x: f32[1, 1, 2] = {1, 2}\nconst %w: f32[1, 1, 1] = {3}\n"
                     "%y = Conv(%x, %w) {pads = [1, 2]}"),
            "f32[1, 1, 5] = {0, 3, 6, 0, 0}");
  EXPECT_EQ(ValuesOf("const %x: f16[1, 1, 2] = hex \"003c0040\"\n"
                     "const %w: f16[1, 1, 2] = hex \"003c003c\"\n%y = Conv(%x, %w)"),
            "f16[1, 1, 1] = hex \"0042\"");
}

TEST(WindowTest, MaximaSayWhereTheyAre) {
  const std::string x = "const %x: i8[1, 2, 2, 2] = {1, 3, 3, -4, -1, -2, -3, -1}\n";
  EXPECT_EQ(ValuesOf(x + "%y, %i = MaxPool(%x) {kernel_shape = [2, 2]}"),
            "i8[1, 2, 1, 1] = {3, -1}; i64[1, 2, 1, 1] = {1, 4}");
  EXPECT_EQ(ValuesOf(x + "%y, %i = MaxPool(%x) {kernel_shape = [2, 2], storage_order = 1}"),
            "i8[1, 2, 1, 1] = {3, -1}; i64[1, 2, 1, 1] = {2, 4}");
  EXPECT_EQ(ValuesOf("const %x: f32[1, 1, 3] = {1, nan, nan}\n"
                     "%y, %i = MaxPool(%x) {kernel_shape = [3]}"),
            "f32[1, 1, 1] = {nan}; i64[1, 1, 1] = {1}");
}

TEST(WindowTest, UnpoolingChecksItsIndices) {
  const auto unpool = [](const std::string& index, const std::string& shape) {
    return ValuesOf("const %x: f32[1, 1, 1, 1] = {5}\nconst %i: i64[1, 1, 1, 1] = {" + index +
                    "}\nconst %s: i64[4] = {" + shape +
                    "}\n%y = MaxUnpool(%x, %i, %s) {kernel_shape = [2, 2], strides = [2, 2]}");
  };
  EXPECT_EQ(unpool("2", "1, 1, 3, 3"), "f32[1, 1, 3, 3] = {0, 0, 0, 5, 0, 0, 0, 0, 0}");
  EXPECT_THAT(unpool("4", "1, 1, 3, 3"), HasSubstr("an index is outside of what was pooled"));
  EXPECT_THAT(unpool("3", "1, 1, 1, 1"), HasSubstr("an index is outside of the output"));
  EXPECT_THAT(unpool("0", "1, 2, 2, 2"), HasSubstr("has not batch and channels of"));
}

TEST(WindowTest, LpPoolsAreNorms) {
  const std::string x = "const %x: f32[1, 1, 2] = {-3, 4}\n";
  EXPECT_EQ(ValuesOf(x + "%y = LpPool(%x) {kernel_shape = [2]}"), "f32[1, 1, 1] = {5}");
  EXPECT_EQ(ValuesOf(x + "%y = GlobalLpPool(%x) {p = 1}"), "f32[1, 1, 1] = {7}");
  EXPECT_THAT(ValuesOf(x + "%y = GlobalLpPool(%x) {p = 0}"), HasSubstr("\"p\" is 0"));
}

TEST(WindowTest, TransposedConvolutions) {
  const std::string x = "const %x: f32[1, 1, 2] = {1, 10}\nconst %w: f32[1, 1, 3] = {1, 2, 3}\n";
  EXPECT_EQ(ValuesOf(x + "%y = ConvTranspose(%x, %w)"), "f32[1, 1, 4] = {1, 12, 23, 30}");
  EXPECT_EQ(ValuesOf(x + "%y = ConvTranspose(%x, %w) {strides = [2], dilations = [2]}"),
            "f32[1, 1, 7] = {1, 0, 12, 0, 23, 0, 30}");
  EXPECT_EQ(ValuesOf(x + "%y = ConvTranspose(%x, %w) {strides = [2], output_shape = [5]}"),
            "f32[1, 1, 5] = {1, 2, 13, 20, 30}");
  EXPECT_EQ(ValuesOf(x + "%y = ConvTranspose(%x, %w) {strides = [2], auto_pad = \"SAME_LOWER\"}"),
            "f32[1, 1, 4] = {2, 13, 20, 30}");
  EXPECT_EQ(ValuesOf(x + "%y = ConvTranspose(%x, %w) {strides = [4], output_shape = [9]}"),
            "f32[1, 1, 9] = {1, 2, 3, 0, 10, 20, 30, 0, 0}");
  EXPECT_EQ(ValuesOf("const %x: f64[1, 2, 1] = {1, 2}\nconst %w: f64[2, 1, 1] = {3, 5}\n"
                     "const %b: f64[2] = {100, 200}\n%y = ConvTranspose(%x, %w, %b) {group = 2}"),
            "f64[1, 2, 1] = {103.0, 210.0}");
  EXPECT_THAT(ValuesOf(x + "%y = ConvTranspose(%x, %w) {pads = [3, 3]}"),
              HasSubstr("would become -2"));
  EXPECT_THAT(ValuesOf(x + "%y = ConvTranspose(%x, %w) {group = 2}"), HasSubstr("do not fit"));
  EXPECT_THAT(ValuesOf(x + "%y = ConvTranspose(%x, %w) {strides = [0]}"),
              HasSubstr("numbers of at least 1 are needed"));
}

TEST(WindowTest, ColumnsAddUp) {
  const std::string shapes = "const %s: i64[1] = {3}\nconst %b: i64[1] = {2}\n";
  EXPECT_EQ(ValuesOf(shapes + "const %x: u8[1, 2, 2] = {200, 1, 100, 7}\n%y = Col2Im(%x, %s, %b)"),
            "u8[1, 1, 3] = {200, 101, 7}");
  EXPECT_THAT(ValuesOf(shapes + "const %x: u8[1, 2, 3] = {1, 2, 3, 4, 5, 6}\n"
                                "%y = Col2Im(%x, %s, %b)"),
              HasSubstr("holds no blocks of [2] for an image of [3], which takes 2"));
}

TEST(WindowTest, DeformedConvolutionsReadBetween) {
  EXPECT_EQ(ValuesOf("const %x: f32[1, 1, 1, 2] = {1, 3}\nconst %w: f32[1, 1, 1, 1] = {2}\n"
                     "const %o: f32[1, 2, 1, 2] = {0, 0, 0.5, 0.5}\n%y = DeformConv(%x, %w, %o)"),
            "f32[1, 1, 1, 2] = {4, 3}");
  EXPECT_THAT(ValuesOf("const %x: f32[1, 1, 1, 2] = {1, 3}\nconst %w: f32[1, 1, 1, 1] = {2}\n"
                       "const %o: f32[1, 1, 1, 2] = {0, 0}\n%y = DeformConv(%x, %w, %o)"),
              HasSubstr("input 2 has the shape [1, 1, 1, 2] where [1, 2, 1, 2] is needed"));
}

}  // namespace
}  // namespace slipway
