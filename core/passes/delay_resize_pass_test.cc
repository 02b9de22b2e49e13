#include "core/passes/delay_resize_pass.h"

#include <gtest/gtest.h>

#include "core/passes/dead_code_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

absl::StatusOr<Graph> Delay(Graph graph, const PassContext& context) {
  absl::StatusOr<Graph> delayed = DelayResize(std::move(graph), context);
  return delayed.ok() ? DeadCode(*std::move(delayed), context) : delayed;
}

TEST(DelayResize, ConvolvesTheSmallerImage) {
  const PassTester tester;
  EXPECT_OK(tester.Check(Delay, R"(
    graph "g" (%x: f32[1, 2, 3, 3]) -> (%y) {
      const %sizes: i64[4] = {1, 2, 6, 6}
      const %w: f32[2, 2, 1, 1] = {1.0, 2.0, 3.0, 4.0}
      const %b: f32[2] = {0.5, -0.5}
      %r = Resize(%x, _, _, %sizes) {mode = "linear"}
      %y = Conv "c" (%r, %w, %b)
    })",
                         R"(
    graph "g" (%x: f32[1, 2, 3, 3]) -> (%y) {
      const %b: f32[2] = {0.5, -0.5}
      const %w_part: f32[2, 2, 1, 1] = {1.0, 2.0, 3.0, 4.0}
      const %c_larger_sizes: i64[4] = {1, 2, 6, 6}
      %c_small = Conv "c_small" (%x, %w_part, %b)
      %y = Resize "c_larger" (%c_small, _, _, %c_larger_sizes) {mode = "linear"}
    })"));
}

TEST(DelayResize, TakesPartsOfAConcat) {
  const PassTester tester;
  EXPECT_OK(tester.Check(Delay, R"(
    graph "g" (%a: f32[1, 2, 3, 3], %b: f32[1, 1, 9, 9], %c: f32[1, 2, 9, 9]) -> (%y) {
      const %sizes: i64[4] = {1, 2, 9, 9}
      const %w: f32[1, 5, 1, 1] = {1.0, 2.0, 3.0, 4.0, 5.0}
      const %bias: f32[1] = {0.5}
      %r = Resize(%a, _, _, %sizes) {coordinate_transformation_mode = "asymmetric", mode = "nearest"}
      %j = Concat(%b, %r, %c) {axis = 1}
      %y = Conv "c" (%j, %w, %bias)
    })",
                         R"(
    graph "g" (%a: f32[1, 2, 3, 3], %b: f32[1, 1, 9, 9], %c: f32[1, 2, 9, 9]) -> (%y) {
      const %bias: f32[1] = {0.5}
      const %w_part: f32[1, 3, 1, 1] = {1.0, 4.0, 5.0}
      const %w_part_1: f32[1, 2, 1, 1] = {2.0, 3.0}
      const %c_larger_sizes: i64[4] = {1, 1, 9, 9}
      %c_rest = Concat "c_rest" (%b, %c) {axis = 1}
      %c_1 = Conv "c" (%c_rest, %w_part, %bias)
      %c_small = Conv "c_small" (%a, %w_part_1)
      %c_larger = Resize "c_larger" (%c_small, _, _, %c_larger_sizes) {coordinate_transformation_mode = "asymmetric", mode = "nearest"}
      %y = Add "c" (%c_1, %c_larger)
    })"));
}

TEST(DelayResize, LeavesWhatWouldBecomeMore) {
  const PassTester tester;
  const auto stays = [&tester](const char* graph) { return tester.Check(Delay, graph, graph); };
  // A smaller image; more channels to make larger than products saved; one that somebody else reads; a kernel of 3 x 3; pixels outside.
  EXPECT_OK(stays(R"(
    graph "g" (%x: f32[1, 2, 6, 6]) -> (%y) {
      const %sizes: i64[4] = {1, 2, 3, 3}
      const %w: f32[2, 2, 1, 1] = {1.0, 2.0, 3.0, 4.0}
      %r = Resize "r" (%x, _, _, %sizes) {mode = "linear"}
      %y = Conv "c" (%r, %w)
    })"));
  EXPECT_OK(stays(R"(
    graph "g" (%x: f32[1, 1, 3, 3]) -> (%y) {
      const %sizes: i64[4] = {1, 1, 6, 6}
      const %w: f32[64, 1, 1, 1] = splat 2.0
      %r = Resize "r" (%x, _, _, %sizes) {mode = "linear"}
      %y = Conv "c" (%r, %w)
    })"));
  EXPECT_OK(stays(R"(
    graph "g" (%x: f32[1, 2, 3, 3]) -> (%y, %r) {
      const %sizes: i64[4] = {1, 2, 6, 6}
      const %w: f32[2, 2, 1, 1] = {1.0, 2.0, 3.0, 4.0}
      %r = Resize "r" (%x, _, _, %sizes) {mode = "linear"}
      %y = Conv "c" (%r, %w)
    })"));
  EXPECT_OK(stays(R"(
    graph "g" (%x: f32[1, 2, 3, 3]) -> (%y) {
      const %sizes: i64[4] = {1, 2, 6, 6}
      const %w: f32[2, 2, 3, 3] = splat 0.5
      %r = Resize "r" (%x, _, _, %sizes) {mode = "linear"}
      %y = Conv "c" (%r, %w) {pads = [1, 1, 1, 1]}
    })"));
  EXPECT_OK(stays(R"(
    graph "g" (%x: f32[1, 2, 3, 3]) -> (%y) {
      const %sizes: i64[4] = {1, 2, 6, 6}
      const %roi: f32[8] = {0, 0, 0, 0, 1, 1, 2, 2}
      const %w: f32[2, 2, 1, 1] = {1.0, 2.0, 3.0, 4.0}
      %r = Resize "r" (%x, %roi, _, %sizes) {coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 1.0, mode = "linear"}
      %y = Conv "c" (%r, %w)
    })"));
}

}  // namespace
}  // namespace slipway
