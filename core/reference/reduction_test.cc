#include <string>

#include "absl/strings/str_cat.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

const std::string kCube =
    "const %x: i32[2, 2, 3] = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12} const %a: i64[1] = {1}"
    " const %e: i64[2] = {0, 2} ";

TEST(ReductionTest, OverAnyAxes) {
  EXPECT_EQ(ValuesOf("", kCube + "%y = ReduceSum(%x, %a)"), "i32[2, 1, 3] = {5, 3, 9, 17, 19, -3}");
  EXPECT_EQ(ValuesOf("", kCube + "%y = ReduceL1(%x, %e) {keepdims = 0}"), "i32[2] = {30, 48}");
  EXPECT_EQ(ValuesOf("", kCube + "%y = ReduceMin(%x, %e) {keepdims = 0}"), "i32[2] = {-2, -12}");
  EXPECT_EQ(ValuesOf("", kCube + "%y = ReduceMax(%x)"), "i32[1, 1, 1] = {11}");
  EXPECT_EQ(ValuesOf("", kCube + "%y = ReduceProd(%x, %a)"),
            "i32[2, 1, 3] = {4, -10, 18, 70, 88, -108}");
  EXPECT_EQ(ValuesOf("", kCube + "%y = ReduceL2(%x, %e)"), "i32[1, 2, 1] = {14, 21}");
}

TEST(ReductionTest, OverNoAxesIsAFunctionOfEachElement) {
  EXPECT_EQ(ValuesOf("",
                     "const %x: f32[3] = {1, -2, 3} %y = ReduceSumSquare(%x)"
                     " {noop_with_empty_axes = 1}"),
            "f32[3] = {1, 4, 9}");
}

TEST(ReductionTest, OfNothingIsWhatChangesNothing) {
  const std::string x = "const %x: f32[2, 0] = {} const %a: i64[1] = {1} ";
  const auto reduce = [&](const char* op) {
    return ValuesOf("", absl::StrCat(x, "%y = ", op, "(%x, %a) {keepdims = 0}"));
  };
  EXPECT_EQ(reduce("ReduceSum"), "f32[2] = {0, 0}");
  EXPECT_EQ(reduce("ReduceProd"), "f32[2] = {1, 1}");
  EXPECT_EQ(reduce("ReduceMax"), "f32[2] = {-inf, -inf}");
  EXPECT_EQ(reduce("ReduceMin"), "f32[2] = {inf, inf}");
  EXPECT_EQ(reduce("ReduceL2"), "f32[2] = {0, 0}");
  EXPECT_EQ(reduce("ReduceLogSumExp"), "f32[2] = {-inf, -inf}");
  EXPECT_THAT(reduce("ReduceMean"), HasSubstr("nan"));
  EXPECT_EQ(ValuesOf("", "const %x: i8[0] = {} %y = ReduceMax(%x)"), "i8[1] = {-128}");
  EXPECT_EQ(ValuesOf("", "const %x: bool[0] = {} %y = ReduceMin(%x)"), "bool[1] = {true}");
  EXPECT_THAT(ValuesOf("", "const %x: i8[0] = {} %y = ReduceMean(%x)"),
              HasSubstr("no integers have no mean"));
  EXPECT_EQ(ValuesOf("", "const %x: i8[0, 3] = {} const %a: i64[1] = {1} %y = ReduceMean(%x, %a)"),
            "i8[0, 1] = {}");
}

TEST(ReductionTest, NanGoesThrough) {
  const std::string x = "const %x: f32[3] = {1, nan, 2} ";
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceLogSumExp"}) {
    EXPECT_EQ(ValuesOf("", absl::StrCat(x, "%y = ", op, "(%x)")), "f32[1] = {nan}") << op;
  }
  EXPECT_EQ(ValuesOf("", x + "%y = ArgMax(%x)"), "i64[1] = {1}");
  EXPECT_EQ(ValuesOf("", x + "%y = ArgMin(%x)"), "i64[1] = {1}");
}

TEST(ReductionTest, LogarithmsOfSumsDoNotOverflow) {
  EXPECT_EQ(ValuesOf("", "const %x: f32[2] = {1000, 1000} %y = ReduceLogSumExp(%x)"),
            "f32[1] = {1000.6932}");
  EXPECT_EQ(ValuesOf("", "const %x: f32[2] = {inf, 1} %y = ReduceLogSumExp(%x)"), "f32[1] = {inf}");
  EXPECT_EQ(ValuesOf("", "const %x: f32[2] = {-inf, -inf} %y = ReduceLogSumExp(%x)"),
            "f32[1] = {-inf}");
}

TEST(ReductionTest, SumsAreOfDoubles) {
  EXPECT_EQ(ValuesOf("", "const %x: f32[3] = {1e20, 1, -1e20} %y = ReduceSum(%x)"), "f32[1] = {0}");
  EXPECT_EQ(ValuesOf("", "const %x: f32[3] = {16777216, 1, 1} %y = ReduceSum(%x)"),
            "f32[1] = {16777218}");
}

TEST(ReductionTest, FirstOrLastOfEqualOnes) {
  const std::string x = "const %x: u8[2, 3] = {3, 1, 3, 2, 2, 2} ";
  EXPECT_EQ(ValuesOf("", x + "%y = ArgMax(%x) {axis = 1, keepdims = 0}"), "i64[2] = {0, 0}");
  EXPECT_EQ(ValuesOf("", x + "%y = ArgMax(%x) {axis = -1, select_last_index = 1}"),
            "i64[2, 1] = {2, 2}");
  EXPECT_EQ(ValuesOf("", x + "%y = ArgMin(%x) {keepdims = 0}"), "i64[3] = {1, 0, 1}");
}

TEST(ReductionTest, CumulatesEitherWay) {
  const std::string x = "const %x: i8[2, 3] = {1, 2, 3, 4, 5, 100} const %a: i32[] = {-1} ";
  EXPECT_EQ(ValuesOf("", x + "%y = CumSum(%x, %a)"), "i8[2, 3] = {1, 3, 6, 4, 9, 109}");
  EXPECT_EQ(ValuesOf("", x + "%y = CumSum(%x, %a) {exclusive = 1, reverse = 1}"),
            "i8[2, 3] = {5, 3, 0, 105, 100, 0}");
  EXPECT_EQ(ValuesOf("", x + "%y = CumProd(%x, %a)"), "i8[2, 3] = {1, 2, 6, 4, 20, -48}");
  EXPECT_THAT(ValuesOf("", "const %x: f32[2] = {1, 2} const %a: i64[1] = {1} %y = CumSum(%x, %a)"),
              HasSubstr("node \"y\" (CumSum): the axis (input 1) is none of x"));
}

}  // namespace
}  // namespace slipway
