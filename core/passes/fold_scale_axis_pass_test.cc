#include "core/passes/fold_scale_axis_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FoldScaleAxis, TakesScaleAndShiftBehindAConv) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldScaleAxis, R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w: f32[2, 1, 1, 1] = {3.0, 5.0}
      const %scale: f32[2, 1, 1] = {2.0, 0.5}
      const %shift: f32[1, 2, 1, 1] = {1.0, 2.0}
      const %half: f32[] = {2.0}
      %c = Conv "c" (%x, %w) {group = 1}
      %s = Mul(%scale, %c)
      %t = Sub(%s, %shift)
      %y = Div(%t, %half)
    })",
                         R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w_scaled_scaled: f32[2, 1, 1, 1] = {3.0, 1.25}
      const %c_shifted_shifted: f32[2] = {-0.5, -1.0}
      %y = Conv "c" (%x, %w_scaled_scaled, %c_shifted_shifted) {group = 1}
    })"));
}

TEST(FoldScaleAxis, TakesABiasBehindAProduct) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldScaleAxis, R"(
    graph "g" (%x: f32[3, 1]) -> (%y) {
      const %w: f32[1, 2] = {3.0, 5.0}
      const %bias: f32[1, 2] = {1.0, 2.0}
      %p = Gemm "p" (%x, %w)
      %y = Add(%bias, %p)
    })",
                         R"(
    graph "g" (%x: f32[3, 1]) -> (%y) {
      const %w: f32[1, 2] = {3.0, 5.0}
      const %p_shifted: f32[2] = {1.0, 2.0}
      %y = Gemm "p" (%x, %w, %p_shifted)
    })"));
}

TEST(FoldScaleAxis, TakesASubtractionFromAConstant) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldScaleAxis, R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w: f32[2, 1, 1, 1] = {3.0, 5.0}
      const %from: f32[2, 1, 1] = {1.0, 2.0}
      %c = Conv "c" (%x, %w) {group = 1}
      %y = Sub(%from, %c)
    })",
                         R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w_scaled: f32[2, 1, 1, 1] = {-3.0, -5.0}
      const %c_shifted: f32[2] = {1.0, 2.0}
      %y = Conv "c" (%x, %w_scaled, %c_shifted) {group = 1}
    })"));
}

// c / x is of no such form.
TEST(FoldScaleAxis, LeavesADivisionOfAConstant) {
  const PassTester tester;
  const char* text = R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w: f32[2, 1, 1, 1] = {3.0, 5.0}
      const %one: f32[] = {1.0}
      %c = Conv "c" (%x, %w) {group = 1}
      %y = Div(%one, %c)
    })";
  EXPECT_OK(tester.Check(FoldScaleAxis, text, text));
}

// Along height, not along channels; and a value with two readers.
TEST(FoldScaleAxis, LeavesWhatIsNotAChannelsOwn) {
  const PassTester tester;
  const char* text = R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y, %d) {
      const %w: f32[2, 1, 1, 1] = {3.0, 5.0}
      const %row: f32[2, 1] = {2.0, 0.5}
      const %two: f32[] = {2.0}
      %c = Conv "c" (%x, %w) {group = 1}
      %y = Mul(%c, %row)
      %d = Conv "d" (%x, %w) {group = 1}
      %e = Mul(%d, %two)
    })";
  EXPECT_OK(tester.Check(FoldScaleAxis, text, text));
}

TEST(FoldScaleAxis, LeavesDivisionsByZero) {
  const PassTester tester;
  const char* text = R"(
    graph "g" (%x: f32[1, 1, 2, 2]) -> (%y) {
      const %w: f32[2, 1, 1, 1] = {0.0, 5.0}
      const %zero: f32[] = {0.0}
      %c = Conv "c" (%x, %w) {group = 1}
      %y = Div(%c, %zero)
    })";
  EXPECT_OK(tester.Check(FoldScaleAxis, text, text));
}

TEST(FoldScaleAxis, TakesAScaleBeforeAConvWithGroups) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldScaleAxis, R"(
    graph "g" (%x: f32[1, 4, 2, 2]) -> (%y) {
      const %w: f32[2, 2, 1, 1] = {1.0, 2.0, 3.0, 4.0}
      const %scale: f32[4, 1, 1] = {2.0, 3.0, 4.0, 5.0}
      %s = Mul "s" (%x, %scale)
      %y = Conv "c" (%s, %w) {group = 2, pads = [1, 1, 1, 1]}
    })",
                         R"(
    graph "g" (%x: f32[1, 4, 2, 2]) -> (%y) {
      const %scale: f32[4, 1, 1] = {2.0, 3.0, 4.0, 5.0}
      const %w_scaled: f32[2, 2, 1, 1] = {2.0, 6.0, 12.0, 20.0}
      %s = Mul "s" (%x, %scale)
      %y = Conv "c" (%x, %w_scaled) {group = 2, pads = [1, 1, 1, 1]}
    })"));
}

}  // namespace
}  // namespace slipway
