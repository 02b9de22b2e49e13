#include <string>

#include "absl/strings/str_cat.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NormalizationTest, NanMakesItsRowNan) {
  const char* x = "const %x: f32[2, 2] = {nan, 1, 2, 2}";
  for (const char* op : {"Softmax", "LogSoftmax", "LpNormalization"}) {
    const std::string y = ValuesOf(x, absl::StrCat("%y = ", op, "(%x)"));
    EXPECT_THAT(y, HasSubstr("{nan, nan, ")) << op;
    EXPECT_THAT(y.substr(y.find(", ", y.find("nan, ") + 5)), Not(HasSubstr("nan"))) << op;
  }
  EXPECT_EQ(ValuesOf("const %x: f32[2] = {1, nan}", "%y = Softmax(%x)"), "f32[2] = {nan, nan}");
}

TEST(NormalizationTest, SoftmaxesDoNotOverflow) {
  const char* x = "const %x: f32[3] = {1000, 1000, -inf}";
  EXPECT_EQ(ValuesOf(x, "%y = Softmax(%x)"), "f32[3] = {0.5, 0.5, 0}");
  EXPECT_EQ(ValuesOf(x, "%y = LogSoftmax(%x)"), "f32[3] = {-0.6931472, -0.6931472, -inf}");
  EXPECT_EQ(ValuesOf(x, "%y = Hardmax(%x)"), "f32[3] = {1, 0, 0}");
  EXPECT_EQ(ValuesOf("const %x: f32[2, 0] = {}", "%y = Softmax(%x)"), "f32[2, 0] = {}");
}

TEST(NormalizationTest, NormsOfNothingAreNothing) {
  EXPECT_EQ(ValuesOf("const %x: f32[2, 2] = {0, 3, 0, 4}", "%y = LpNormalization(%x) {axis = 0}"),
            "f32[2, 2] = {0, 0.6, 0, 0.8}");
  EXPECT_EQ(ValuesOf("const %x: f32[2] = {-1, 3}", "%y = LpNormalization(%x) {p = 1}"),
            "f32[2] = {-0.25, 0.75}");
}

// Of a mean that is large beside the deviation, which squares of f32 would lose.
TEST(NormalizationTest, LayersKeepTheirDigits) {
  const char* x =
      "const %x: f32[1, 4] = {10000, 10001, 10002, 10003} const %s: f32[4] = {1, 1, 2, 2}"
      " const %b: f32[1] = {1}";
  EXPECT_EQ(ValuesOf(x, "%y, %m, %i = LayerNormalization(%x, %s, %b) {epsilon = 0.0}"),
            "f32[1, 4] = {-0.3416408, 0.5527864, 1.8944272, 3.6832817}; f32[1, 1] = {10001.5}; "
            "f32[1, 1] = {0.8944272}");
  EXPECT_EQ(ValuesOf("const %x: f32[2, 2] = {3, 4, 0, 0} const %s: f32[2] = {5, 5}",
                     "%y = RMSNormalization(%x, %s) {epsilon = 12.5}"),
            "f32[2, 2] = {3, 4, 0, 0}");
}

TEST(NormalizationTest, ChannelsAndGroups) {
  const char* x =
      "const %x: f32[1, 4, 1] = {1, 3, 10, 30} const %s: f32[4] = {1, 2, 3, 4}"
      " const %b: f32[4] = {0, 0, 1, 1}";
  EXPECT_EQ(ValuesOf(x, "%y = InstanceNormalization(%x, %s, %b)"), "f32[1, 4, 1] = {0, 0, 1, 1}");
  EXPECT_EQ(ValuesOf(x, "%y = GroupNormalization(%x, %s, %b) {num_groups = 2, epsilon = 0.0}"),
            "f32[1, 4, 1] = {-1, 2, -2, 5}");
  EXPECT_EQ(ValuesOf("const %x: f32[2, 1, 2] = {1, 2, 3, 6} const %s: f32[1] = {1}"
                     " const %b: f32[1] = {0} const %m: f32[1] = {10} const %v: f32[1] = {20}",
                     "%y, %n, %w = BatchNormalization(%x, %s, %b, %m, %v)"
                     " {training_mode = 1, momentum = 0.5, epsilon = 0.5}"),
            "f32[2, 1, 2] = {-1, -0.5, 0, 1.5}; f32[1] = {6.5}; f32[1] = {11.75}");
}

TEST(NormalizationTest, MeanVarianceOverAnyAxes) {
  EXPECT_EQ(ValuesOf("const %x: f32[2, 2] = {1, 2, 3, 6}",
                     "%y = MeanVarianceNormalization(%x) {axes = [0]}"),
            "f32[2, 2] = {-1, -1, 1, 1}");
}

}  // namespace
}  // namespace slipway
