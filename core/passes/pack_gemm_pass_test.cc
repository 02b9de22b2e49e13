#include "core/passes/pack_gemm_pass.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<Graph> InPanelsOf8(Graph graph, const PassContext& context) {
  return PackGemm(std::move(graph), context, 8);
}

TEST(PackGemm, PacksConstantWeightsIntoPanels) {
  const PassTester tester;
  EXPECT_OK(tester.Check(InPanelsOf8, R"(
    graph "g" (%x: f32[1, 2]) -> (%y) {
      const %w: f32[2, 9] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0}
      const %b: f32[9] = splat 0.5
      %y = Gemm "fc" (%x, %w, %b)
    })",
                         R"(
    graph "g" (%x: f32[1, 2]) -> (%y) {
      const %b: f32[9] = splat 0.5
      const %w_packed: f32[2, 2, 8] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 19.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}
      %y = slipway.GemmPacked "fc" (%x, %w_packed, %b) {columns = 9}
    })"));
}

TEST(PackGemm, PacksIntegersInPairs) {
  const PassTester tester;
  EXPECT_OK(tester.Check(
      [](Graph graph, const PassContext& context) {
        return PackGemm(std::move(graph), context, 2);
      },
      R"(
    graph "g" (%x: i16[1, 2], %z: i16[1, 1]) -> (%y, %odd) {
      const %w: i16[2, 3] = {1, 2, 3, 4, 5, 6}
      %y = slipway.IntegerGemm "fc" (%x, %w)
      const %v: i16[1, 3] = {1, 2, 3}
      %odd = slipway.IntegerGemm "odd" (%z, %v)
    })",
      R"(
    graph "g" (%x: i16[1, 2], %z: i16[1, 1]) -> (%y, %odd) {
      const %w_packed: i16[2, 1, 2, 2] = {1, 4, 2, 5, 3, 6, 0, 0}
      %y = slipway.GemmPacked "fc" (%x, %w_packed) {columns = 3}
      const %v: i16[1, 3] = {1, 2, 3}
      %odd = slipway.IntegerGemm "odd" (%z, %v)
    })"));
}

TEST(PackGemm, LeavesOtherProducts) {
  const PassTester tester;
  const char* text = R"(
    graph "g" (%x: f32[2, 2], %z: f32[2, 2]) -> (%y) {
      const %w: f32[2, 2] = {1.0, 2.0, 3.0, 4.0}
      %p = Gemm "p" (%x, %z)
      %y = Gemm "q" (%p, %w) {alpha = 2.0}
    })";
  EXPECT_OK(tester.Check(InPanelsOf8, text, text));
}

}  // namespace
}  // namespace slipway
