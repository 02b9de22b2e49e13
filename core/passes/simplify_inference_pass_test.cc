#include "core/passes/simplify_inference_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// scale / sqrt(variance) is 2 and 0.5; shifts are 10 - 1 * 2 and 20 - 2 * 0.5.
TEST(SimplifyInference, FoldsBatchNormalizationIntoConv) {
  const PassTester tester;
  EXPECT_OK(tester.Check(SimplifyInference, R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w: f32[2, 1, 1, 1] = {3.0, 5.0}
      const %b: f32[2] = {0.5, 1.5}
      const %scale: f32[2] = {4.0, 1.0}
      const %bias: f32[2] = {10.0, 20.0}
      const %mean: f32[2] = {1.0, 2.0}
      const %variance: f32[2] = {4.0, 4.0}
      %c = Conv "c" (%x, %w, %b)
      %y = BatchNormalization "bn" (%c, %scale, %bias, %mean, %variance) {epsilon = 0.0}
    })",
                         R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w_scaled: f32[2, 1, 1, 1] = {6.0, 2.5}
      const %b_shifted: f32[2] = {9.0, 19.75}
      %y = Conv "c" (%x, %w_scaled, %b_shifted)
    })"));
}

TEST(SimplifyInference, SpellsItOutWhereTheConvIsReadTwice) {
  const PassTester tester;
  EXPECT_OK(tester.Check(SimplifyInference, R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y, %c) {
      const %w: f32[2, 1, 1, 1] = {3.0, 5.0}
      const %scale: f32[2] = {4.0, 1.0}
      const %bias: f32[2] = {10.0, 20.0}
      const %mean: f32[2] = {1.0, 2.0}
      const %variance: f32[2] = {4.0, 4.0}
      %c = Conv "c" (%x, %w)
      %y = BatchNormalization "bn" (%c, %scale, %bias, %mean, %variance) {epsilon = 0.0}
    })",
                         R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y, %c) {
      const %w: f32[2, 1, 1, 1] = {3.0, 5.0}
      const %bn_scale: f32[2, 1, 1] = {2.0, 0.5}
      const %bn_shift: f32[2, 1, 1] = {8.0, 19.0}
      %c = Conv "c" (%x, %w)
      %bn_scaled = Mul "bn_scaled" (%c, %bn_scale)
      %y = Add "bn_out" (%bn_scaled, %bn_shift)
    })"));
}

TEST(SimplifyInference, LeavesStatisticsThatAreNotConstant) {
  const PassTester tester;
  const char* text = R"(
    graph "g" (%x: f32[1, 2, 2], %s: f32[2], %b: f32[2], %m: f32[2]) -> (%y) {
      const %v: f32[2] = {1.0, 2.0}
      %y = BatchNormalization "bn" (%x, %s, %b, %m, %v)
    })";
  EXPECT_OK(tester.Check(SimplifyInference, text, text));
}

}  // namespace
}  // namespace slipway
