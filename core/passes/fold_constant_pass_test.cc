#include "core/passes/fold_constant_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FoldConstant, EvaluatesWhatDependsOnConstantsAlone) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldConstant, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %a: f32[2] = {1.0, 2.0}
      const %b: f32[2] = {10.0, 20.0}
      %sum = Add(%a, %b)
      %y = Mul(%x, %sum)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %sum: f32[2] = {11.0, 22.0}
      %y = Mul(%x, %sum)
    })"));
}

// 100 KB: too large for InferType's shape arithmetic, folded here.
TEST(FoldConstant, MakesWeightsOfConstantOfShape) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldConstant, R"(
    graph "g" (%x: f32[25000]) -> (%y) {
      const %shape: i64[1] = {25000}
      %w = ConstantOfShape(%shape) {value = f32[1] {0.5}}
      %y = Mul(%x, %w)
    })",
                         R"(
    graph "g" (%x: f32[25000]) -> (%y) {
      const %w: f32[25000] = splat 0.5
      %y = Mul(%x, %w)
    })"));
}

TEST(FoldConstant, DoesNotMakeWhatIsTooLargeOrUnused) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[1]) -> (%y) {
      const %shape: i64[2] = {1048576, 1024}
      %unused = ConstantOfShape(%shape) {value = f32[1] {0.5}}
      %huge = ConstantOfShape(%shape) {value = f32[1] {0.5}}
      %y = Add(%x, %huge)
    })"));
  ASSERT_OK_AND_ASSIGN(graph, FoldConstant(graph, tester.context()));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op, "ConstantOfShape");
}

}  // namespace
}  // namespace slipway
