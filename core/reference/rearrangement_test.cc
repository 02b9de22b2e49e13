// Cases that ONNX's own leave out: scalars, empty tensors, parameters far outside.
#include <string>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(RearrangementTest, Tiles) {
  EXPECT_EQ(ValuesOf("const %x: i64[] = {3}\nconst %r: i64[0] = {}\n%y = Tile(%x, %r)"),
            "i64[] = {3}");
  EXPECT_EQ(
      ValuesOf(
          "const %x: bool[2, 1] = {false, true}\nconst %r: i64[2] = {2, 2}\n%y = Tile(%x, %r)"),
      "bool[4, 2] = {false, false, true, true, false, false, true, true}");
  EXPECT_EQ(ValuesOf("const %x: f32[2] = {0, 1}\nconst %r: i64[1] = {0}\n%y = Tile(%x, %r)"),
            "f32[0] = {}");
  EXPECT_THAT(ValuesOf("const %x: f32[2] = {0, 1}\nconst %r: i64[1] = {-1}\n%y = Tile(%x, %r)"),
              HasSubstr("(Tile)"));
  EXPECT_THAT(ValuesOf("const %x: f32[2] = {0, 1}\nconst %r: i64[2] = {1, 1}\n%y = Tile(%x, %r)"),
              HasSubstr("there are 2 repeats for the shape [2]"));
}

TEST(RearrangementTest, TrianglesFarFromTheDiagonal) {
  const auto trilu = [](const std::string& k, const std::string& upper) {
    return ValuesOf("const %x: i8[2, 2] = {1, 2, 3, 4}\nconst %k: i64[] = {" + k +
                    "}\n%y = Trilu(%x, %k) {upper = " + upper + "}");
  };
  EXPECT_EQ(trilu("9223372036854775807", "1"), "i8[2, 2] = {0, 0, 0, 0}");
  EXPECT_EQ(trilu("-9223372036854775808", "1"), "i8[2, 2] = {1, 2, 3, 4}");
  EXPECT_EQ(trilu("9223372036854775807", "0"), "i8[2, 2] = {1, 2, 3, 4}");
  EXPECT_EQ(trilu("-9223372036854775808", "0"), "i8[2, 2] = {0, 0, 0, 0}");
  EXPECT_EQ(trilu("0", "1"), "i8[2, 2] = {1, 2, 0, 4}");
  EXPECT_EQ(trilu("-1", "0"), "i8[2, 2] = {0, 0, 3, 0}");
}

TEST(RearrangementTest, SequencesReverseWithinTheirLengths) {
  const std::string x = "const %x: i32[3, 2] = {1, 2, 3, 4, 5, 6}\n";
  EXPECT_EQ(ValuesOf(x + "const %l: i64[2] = {3, 0}\n%y = ReverseSequence(%x, %l)"),
            "i32[3, 2] = {5, 2, 3, 4, 1, 6}");
  EXPECT_THAT(ValuesOf(x + "const %l: i64[2] = {4, 0}\n%y = ReverseSequence(%x, %l)"),
              HasSubstr("a length is outside of the time axis"));
  EXPECT_THAT(
      ValuesOf(x + "const %l: i64[2] = {1, 1}\n%y = ReverseSequence(%x, %l) {time_axis = 1}"),
      HasSubstr("are 1 and 1, not 0 and 1 or 1 and 0"));
  EXPECT_THAT(ValuesOf(x + "const %l: i64[3] = {1, 1, 1}\n%y = ReverseSequence(%x, %l)"),
              HasSubstr("the lengths (input 1) must be i64[2], not i64[3]"));
}

TEST(RearrangementTest, CentersCropAndPad) {
  const std::string x = "const %x: i32[2, 3] = {1, 2, 3, 4, 5, 6}\n";
  EXPECT_EQ(ValuesOf(x + "const %s: i64[2] = {3, 2}\n%y = CenterCropPad(%x, %s)"),
            "i32[3, 2] = {1, 2, 4, 5, 0, 0}");
  EXPECT_EQ(ValuesOf(x + "const %s: i64[1] = {6}\n%y = CenterCropPad(%x, %s) {axes = [-1]}"),
            "i32[2, 6] = {0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0}");
  EXPECT_EQ(ValuesOf(x + "const %s: i64[1] = {0}\n%y = CenterCropPad(%x, %s) {axes = [0]}"),
            "i32[0, 3] = {}");
  EXPECT_THAT(ValuesOf(x + "const %s: i64[1] = {6}\n%y = CenterCropPad(%x, %s)"),
              HasSubstr("a shape of 1 extents for 2 axes of [2, 3]"));
}

TEST(RearrangementTest, RangesAndDiagonals) {
  const auto range = [](const std::string& type, const std::string& start, const std::string& limit,
                        const std::string& delta) {
    return ValuesOf("const %s: " + type + "[] = {" + start + "}\nconst %l: " + type + "[] = {" +
                    limit + "}\nconst %d: " + type + "[] = {" + delta +
                    "}\n%y = Range(%s, %l, %d)");
  };
  EXPECT_EQ(range("i64", "3", "-4", "-3"), "i64[3] = {3, 0, -3}");
  EXPECT_EQ(range("i32", "3", "4", "-3"), "i32[0] = {}");
  EXPECT_EQ(range("f64", "0", "1", "0.4"), "f64[3] = {0.0, 0.4, 0.8}");
  EXPECT_THAT(range("i64", "0", "1", "0"), HasSubstr("the delta (input 2) is 0"));
  EXPECT_THAT(range("f32", "0", "0", "0"), HasSubstr("is no number of steps"));
  EXPECT_THAT(range("i64", "-9223372036854775808", "9223372036854775807", "1"),
              HasSubstr("(Range)"));
  EXPECT_THAT(range("f64", "0", "inf", "1"), HasSubstr("(Range)"));
  const std::string x = "const %x: i8[2, 3] = {9, 9, 9, 9, 9, 9}\n";
  EXPECT_EQ(ValuesOf(x + "%y = EyeLike(%x) {k = -1}"), "i8[2, 3] = {0, 0, 0, 1, 0, 0}");
  EXPECT_EQ(ValuesOf(x + "%y = EyeLike(%x) {k = 9223372036854775807}"), "i8[2, 3] = splat 0");
  EXPECT_EQ(ValuesOf(x + "%y = EyeLike(%x) {k = 1, dtype = 11}"),
            "f64[2, 3] = {0.0, 1.0, 0.0, 0.0, 0.0, 1.0}");
  EXPECT_THAT(ValuesOf(x + "%y = EyeLike(%x) {dtype = 8}"), HasSubstr("type string"));
}

TEST(RearrangementTest, SlicesThatGoBackwardsBeginAtAnElement) {
  const auto slice = [](const std::string& x, const std::string& start, const std::string& end) {
    return ValuesOf("const %x: " + x + "\nconst %s: i64[1] = {" + start +
                    "}\nconst %e: i64[1] = {" + end +
                    "}\nconst %t: i64[1] = {-1}\n%y = Slice(%x, %s, %e, _, %t)");
  };
  EXPECT_EQ(slice("i8[3] = {1, 2, 3}", "-100", "-9223372036854775808"), "i8[1] = {1}");
  EXPECT_EQ(slice("i8[3] = {1, 2, 3}", "100", "-4"), "i8[3] = {3, 2, 1}");
  EXPECT_EQ(slice("i8[0] = {}", "-100", "-9223372036854775808"), "i8[0] = {}");
}

}  // namespace
}  // namespace slipway
