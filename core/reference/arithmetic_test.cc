// Arithmetic, comparisons and bits, where they are more than C's operators.
#include <string>

#include "absl/strings/str_cat.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(ArithmeticTest, BroadcastsEveryWay) {
  EXPECT_EQ(ValuesOf("",
                     "const %a: i32[2, 1, 2] = {1, 2, 3, 4} const %b: i32[3, 1] = {10, 20, 30}"
                     " %y = Add(%a, %b)"),
            "i32[2, 3, 2] = {11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34}");
  EXPECT_EQ(ValuesOf("",
                     "const %a: i32[3] = {1, 2, 3} const %b: i32[2, 2, 1] = {0, 10, 20, 30}"
                     " %y = Sub(%a, %b)"),
            "i32[2, 2, 3] = {1, 2, 3, -9, -8, -7, -19, -18, -17, -29, -28, -27}");
  EXPECT_EQ(ValuesOf("", "const %a: i32[0, 3] = {} const %b: i32[1] = {1} %y = Mul(%a, %b)"),
            "i32[0, 3] = {}");
  EXPECT_EQ(ValuesOf("", "const %a: i32[] = {7} const %b: i32[1, 1] = {3} %y = Mul(%a, %b)"),
            "i32[1, 1] = {21}");
}

// More than is loaded at a time, in rows of several lengths.
TEST(ArithmeticTest, BroadcastsWhatIsLong) {
  for (const char* shape : {"[2, 600]", "[600, 2]", "[1200]", "[2, 300, 2]"}) {
    const std::string nodes =
        absl::StrCat("const %o: i64", shape,
                     " = splat 1 const %n: i64[1] = {-1} const %a: i64[] = {0}"
                     " %r = Reshape(%o, %n) %c = CumSum(%r, %a) %s = Shape(%o) %x = Reshape(%c, %s)"
                     " %t = Add(%x, %o) %d = Sub(%t, %x) %y = ReduceSum(%d) {keepdims = 0}");
    EXPECT_EQ(ValuesOf("", nodes), "i64[] = {1200}") << shape;
  }
}

TEST(ArithmeticTest, HalvesAreRoundedOnce) {
  // 1 + 2^-11 + 2^-11: each alone would be lost.
  EXPECT_EQ(ValuesOf("",
                     "const %a: f16[1] = hex \"003c\" const %b: f16[1] = hex \"0010\""
                     " %y = Sum(%a, %b, %b)"),
            "f16[1] = hex \"013c\"");
}

TEST(ArithmeticTest, PowersOfIntegersAreExact) {
  EXPECT_EQ(ValuesOf("",
                     "const %a: i64[5] = {3, -3, 2, 7, 0} const %b: i64[5] = {39, 3, 64, 0, 0}"
                     " %y = Pow(%a, %b)"),
            "i64[5] = {4052555153018976267, -27, 0, 1, 1}");
  EXPECT_EQ(ValuesOf("",
                     "const %a: i32[5] = {1, -1, -1, 2, 0} const %b: i8[5] = {-3, -3, -4, -1, -1}"
                     " %y = Pow(%a, %b)"),
            "i32[5] = {1, -1, 1, 0, 0}");
  EXPECT_EQ(ValuesOf("",
                     "const %a: i32[4] = {9, 2, -8, 10} const %b: f32[4] = {0.5, 31, 0.5, -1}"
                     " %y = Pow(%a, %b)"),
            "i32[4] = {3, 2147483647, 0, 0}");
}

TEST(ArithmeticTest, PowersOfFloatsAreThoseOfC) {
  EXPECT_EQ(ValuesOf("",
                     "const %a: f32[6] = {89, 1, 1, nan, -2, -inf}"
                     " const %b: f32[6] = {nan, -inf, nan, 0, 3, -3} %y = Pow(%a, %b)"),
            "f32[6] = {nan, 1, 1, 1, -8, -0}");
}

TEST(ArithmeticTest, RemaindersHaveTheSignOfEitherSide) {
  const std::string whole =
      "const %a: i8[6] = {-4, 7, 5, 4, -7, -128}"
      " const %b: i8[6] = {2, -3, 8, -2, 3, -1} ";
  EXPECT_EQ(ValuesOf("", whole + "%y = Mod(%a, %b)"), "i8[6] = {0, -2, 5, 0, 2, 0}");
  EXPECT_EQ(ValuesOf("", whole + "%y = Mod(%a, %b) {fmod = 1}"), "i8[6] = {0, 1, 5, 0, -1, 0}");
  const std::string real =
      "const %a: f32[5] = {-4.5, 5, -0, 3, inf}"
      " const %b: f32[5] = {2, -inf, 2, 0, 2} ";
  EXPECT_EQ(ValuesOf("", real + "%y = Mod(%a, %b)"), "f32[5] = {1.5, -inf, 0, nan, nan}");
  EXPECT_EQ(ValuesOf("", real + "%y = Mod(%a, %b) {fmod = 1}"), "f32[5] = {-0.5, 5, -0, nan, nan}");
  EXPECT_THAT(ValuesOf("", "const %a: u8[1] = {1} const %b: u8[1] = {0} %y = Mod(%a, %b)"),
              HasSubstr("node \"y\" (Mod): divides an integer by 0"));
}

TEST(ArithmeticTest, MeansOfSeveral) {
  EXPECT_EQ(ValuesOf("",
                     "const %a: f32[2] = {1, 2} const %b: f32[1] = {4} const %c: f32[] = {1}"
                     " %y = Mean(%a, %b, %c)"),
            "f32[2] = {2, 2.3333333}");
}

TEST(LogicTest, NanIsOnNoSide) {
  const std::string x = "const %a: f64[3] = {nan, 1, -0} const %b: f64[3] = {nan, nan, 0} ";
  EXPECT_EQ(ValuesOf("", x + "%y = Equal(%a, %b)"), "bool[3] = {false, false, true}");
  EXPECT_EQ(ValuesOf("", x + "%y = LessOrEqual(%a, %b)"), "bool[3] = {false, false, true}");
  EXPECT_EQ(ValuesOf("", x + "%y = Greater(%a, %b)"), "bool[3] = {false, false, false}");
}

TEST(LogicTest, LargeIntegersAreNotDoubles) {
  EXPECT_EQ(ValuesOf("",
                     "const %a: u64[2] = {18446744073709551615, 1}"
                     " const %b: u64[2] = {18446744073709551614, 2} %y = Greater(%a, %b)"),
            "bool[2] = {true, false}");
}

TEST(LogicTest, OrderAndLogicAreOfTheirTypes) {
  EXPECT_THAT(ValuesOf("", "const %a: bool[1] = {true} %y = Less(%a, %a)"), HasSubstr("bool"));
  EXPECT_THAT(ValuesOf("", "const %a: i32[1] = {1} %y = And(%a, %a)"), HasSubstr("i32, not bool"));
  EXPECT_EQ(ValuesOf("", "const %a: bool[1] = {true} %y = Equal(%a, %a)"), "bool[1] = {true}");
}

TEST(LogicTest, FindsInfinities) {
  const std::string x = "const %x: f32[4] = {inf, -inf, nan, 3e38} ";
  EXPECT_EQ(ValuesOf("", x + "%y = IsInf(%x)"), "bool[4] = {true, true, false, false}");
  EXPECT_EQ(ValuesOf("", x + "%y = IsInf(%x) {detect_positive = 0}"),
            "bool[4] = {false, true, false, false}");
  EXPECT_EQ(ValuesOf("", x + "%y = IsNaN(%x)"), "bool[4] = {false, false, true, false}");
}

TEST(LogicTest, ChoosesBetweenBroadcastElements) {
  EXPECT_EQ(ValuesOf("",
                     "const %c: bool[2, 1] = {true, false} const %a: u8[3] = {1, 2, 3}"
                     " const %b: u8[] = {9} %y = Where(%c, %a, %b)"),
            "u8[2, 3] = {1, 2, 3, 9, 9, 9}");
  EXPECT_THAT(ValuesOf("",
                       "const %c: bool[1] = {true} const %a: u8[1] = {1}"
                       " const %b: i8[1] = {9} %y = Where(%c, %a, %b)"),
              HasSubstr("elements of the types u8 and i8"));
}

TEST(BitsTest, ShiftsByTooManyBits) {
  const std::string x = "const %a: i8[4] = {-2, -2, 2, 3} const %k: i8[4] = {1, 8, -1, 7} ";
  EXPECT_EQ(ValuesOf("", x + "%y = BitShift(%a, %k) {direction = \"RIGHT\"}"),
            "i8[4] = {-1, -1, 0, 0}");
  EXPECT_EQ(ValuesOf("", x + "%y = BitShift(%a, %k) {direction = \"LEFT\"}"),
            "i8[4] = {-4, 0, 0, -128}");
  EXPECT_THAT(ValuesOf("", x + "%y = BitShift(%a, %k) {direction = \"UP\"}"),
              HasSubstr("\"direction\" is \"UP\""));
}

TEST(BitsTest, CastsBitsOfOneSize) {
  EXPECT_EQ(ValuesOf("", "const %x: f32[2] = {1, -0} %y = BitCast(%x) {to = 6}"),
            "i32[2] = {1065353216, -2147483648}");
  EXPECT_EQ(ValuesOf("", "const %x: u8[3] = {0, 1, 2} %y = BitCast(%x) {to = 9}"),
            "bool[3] = {false, true, true}");
  EXPECT_THAT(ValuesOf("", "const %x: f32[2] = {1, 2} %y = BitCast(%x) {to = 7}"),
              HasSubstr("elements of type i64 are not as large as ones of f32"));
}

}  // namespace
}  // namespace slipway
