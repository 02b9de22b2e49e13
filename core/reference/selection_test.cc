// Cases that ONNX's own leave out: NaN, both zeros, what is refused, outputs that are left out.
#include <string>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(SelectionTest, NonZeroCountsItsOutput) {
  EXPECT_EQ(ValuesOf("const %x: f32[2, 2] = {-0.0, nan, 0, 2}\n%y = NonZero(%x)"),
            "i64[2, 2] = {0, 1, 1, 1}");
  EXPECT_EQ(ValuesOf("const %x: bool[3] = {true, false, true}\n%y = NonZero(%x)"),
            "i64[1, 2] = {0, 2}");
  EXPECT_EQ(ValuesOf("const %x: f16[2] = hex \"0080003c\"\n%y = NonZero(%x)"), "i64[1, 1] = {1}");
  EXPECT_EQ(ValuesOf("const %x: i8[2] = {0, 0}\n%y = NonZero(%x)"), "i64[1, 0] = {}");
  EXPECT_EQ(ValuesOf("const %x: i8[] = {5}\n%y = NonZero(%x)"), "i64[0, 1] = {}");
  EXPECT_EQ(ValuesOf("const %x: i8[2] = {0, 3}\n%n = NonZero(%x)\n%y = Shape(%n)"),
            "i64[2] = {1, 1}");
}

TEST(SelectionTest, CompressMayEndEarlyButNotLate) {
  const std::string x = "const %x: i32[2, 3] = {1, 2, 3, 4, 5, 6}\n";
  EXPECT_EQ(ValuesOf(x + "const %c: bool[2] = {false, true}\n%y = Compress(%x, %c) {axis = -1}"),
            "i32[2, 1] = {2, 5}");
  EXPECT_EQ(ValuesOf(x + "const %c: bool[4] = {true, false, false, true}\n%y = Compress(%x, %c)"),
            "i32[2] = {1, 4}");
  EXPECT_EQ(
      ValuesOf(x + "const %c: bool[3] = {true, true, false}\n%y = Compress(%x, %c) {axis = 0}"),
      "i32[2, 3] = {1, 2, 3, 4, 5, 6}");
  EXPECT_THAT(
      ValuesOf(x + "const %c: bool[3] = {true, true, true}\n%y = Compress(%x, %c) {axis = 0}"),
      HasSubstr("the condition holds behind the last element"));
  EXPECT_THAT(ValuesOf(x + "const %c: i8[1] = {1}\n%y = Compress(%x, %c)"),
              HasSubstr("is of type i8, not bool"));
}

TEST(SelectionTest, UniqueTakesNanAsEqualAndLast) {
  const std::string x = "const %x: f32[6] = {nan, 2, -0.0, nan, 0, 1}\n";
  EXPECT_EQ(ValuesOf(x + "%y, %i, %j, %c = Unique(%x)"),
            "f32[4] = {-0, 1, 2, nan}; i64[4] = {2, 5, 1, 0}; i64[6] = {3, 2, 0, 3, 0, 1}; "
            "i64[4] = {2, 1, 1, 2}");
  EXPECT_EQ(ValuesOf(x + "%y, _, _, %c = Unique(%x) {sorted = 0}"),
            "f32[4] = {nan, 2, -0, 1}; i64[4] = {2, 1, 2, 1}");
  EXPECT_EQ(ValuesOf("const %x: i64[2, 3] = {2, 1, 2, 5, 9, 5}\n%y = Unique(%x) {axis = 1}"),
            "i64[2, 2] = {1, 2, 9, 5}");
  EXPECT_EQ(ValuesOf("const %x: i64[0] = {}\n%y, %i = Unique(%x)"), "i64[0] = {}; i64[0] = {}");
  EXPECT_THAT(ValuesOf("const %x: i64[1] = {1}\n%y = Unique(%x) {axis = 1}"),
              HasSubstr("axis 1 is outside"));
}

}  // namespace
}  // namespace slipway
