// Losses against values worked out by hand.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

constexpr char kSamples[] =
    "const %x: f32[2, 2] = {1, 2, 3, 4}\nconst %t: i64[2] = {0, 1}\n"
    "const %w: f32[2] = {1, 3}\nconst %bad: i64[2] = {0, 2}\n";

TEST(LossTest, MeansAreWeighted) {
  const std::string loss = "%y = NegativeLogLikelihoodLoss(%x, %t, %w)";
  EXPECT_EQ(ValuesOf(kSamples, loss), "f32[] = {-3.25}");
  EXPECT_EQ(ValuesOf(kSamples, loss + "{reduction = \"sum\"}"), "f32[] = {-13}");
  EXPECT_EQ(ValuesOf(kSamples, loss + "{reduction = \"none\"}"), "f32[2] = {-1, -12}");
  EXPECT_EQ(ValuesOf(kSamples, loss + "{ignore_index = 1}"), "f32[] = {-1}");
}

TEST(LossTest, ClassesMustExist) {
  EXPECT_THAT(ValuesOf(kSamples, "%y = NegativeLogLikelihoodLoss(%x, %bad)"),
              HasSubstr("a class (input 1) is outside"));
  EXPECT_EQ(ValuesOf(kSamples, "%y = NegativeLogLikelihoodLoss(%x, %bad) {ignore_index = 2}"),
            "f32[] = {-1}");
  EXPECT_THAT(ValuesOf(kSamples, "%y = NegativeLogLikelihoodLoss(%x, %t) {reduction = \"max\"}"),
              HasSubstr("not none, sum or mean"));
}

TEST(LossTest, LargeScoresDoNotOverflow) {
  EXPECT_EQ(ValuesOf("const %x: f32[1, 2] = {1000, -1000}\nconst %t: i32[1] = {1}",
                     "%y, %l = SoftmaxCrossEntropyLoss(%x, %t)"),
            "f32[] = {2000}; f32[1, 2] = {0, -2000}");
}

TEST(LossTest, AnInfiniteScoreLeavesNothingDefined) {
  EXPECT_EQ(ValuesOf("const %x: f32[2, 2] = {inf, 1, 0, 0}\nconst %t: i32[2] = {1, 0}",
                     "%y, %l = SoftmaxCrossEntropyLoss(%x, %t) {reduction = \"none\"}"),
            "f32[2] = {nan, 0.6931472}; f32[2, 2] = {nan, nan, -0.6931472, -0.6931472}");
}

}  // namespace
}  // namespace slipway
