#include "core/passes/eliminate_common_subexpr_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(EliminateCommonSubexpr, MergesConstantsThenNodes) {
  const PassTester tester;
  EXPECT_OK(tester.Check(EliminateCommonSubexpr, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %a: f32[2] = {1.0, 2.0}
      const %b: f32[2] = {1.0, 2.0}
      const %c: f32[2] = {1.0, 3.0}
      %p = Add(%x, %a)
      %q = Add(%x, %b)
      %r = Add(%x, %c)
      %s = Mul(%p, %q)
      %y = Mul(%s, %r)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %a: f32[2] = {1.0, 2.0}
      const %c: f32[2] = {1.0, 3.0}
      %p = Add(%x, %a)
      %r = Add(%x, %c)
      %s = Mul(%p, %p)
      %y = Mul(%s, %r)
    })"));
}

TEST(EliminateCommonSubexpr, LooksAtEveryByteOfConstantsThatSeemToBeEqual) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[9999]) -> (%y) {
      const %a: f32[9999] = splat 1.0
      const %b: f32[9999] = splat 1.0
      const %c: f32[9999] = splat 1.0
      %p = Add(%x, %a)
      %q = Add(%p, %b)
      %y = Add(%q, %c)
    })"));
  for (Value& value : graph.values) {
    if (value.name == "b") value.constant->mutable_values<float>()[2000] = 2;
  }
  ASSERT_OK_AND_ASSIGN(graph, EliminateCommonSubexpr(graph, tester.context()));
  EXPECT_EQ(graph.nodes[0].inputs[1], graph.nodes[2].inputs[1]);
  EXPECT_NE(graph.nodes[0].inputs[1], graph.nodes[1].inputs[1]);
}

TEST(EliminateCommonSubexpr, LeavesAloneWhatWouldHaveToBeMade) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %a: f32[2] = splat 1.0
      %y = Add(%x, %a)
    })"));
  graph.values[1].constant = Tensor::Deferred(
      {DataType::kFloat32, {2}},
      []() -> absl::StatusOr<Tensor> { return absl::InternalError("somebody looked"); });
  EXPECT_OK(EliminateCommonSubexpr(graph, tester.context()).status());
}

TEST(EliminateCommonSubexpr, LooksAtAttributes) {
  const PassTester tester;
  EXPECT_OK(tester.Check(EliminateCommonSubexpr, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %p = LeakyRelu(%x) {alpha = 0.1}
      %q = LeakyRelu(%x) {alpha = 0.2}
      %y = Mul(%p, %q)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %p = LeakyRelu(%x) {alpha = 0.1}
      %q = LeakyRelu(%x) {alpha = 0.2}
      %y = Mul(%p, %q)
    })"));
}

TEST(EliminateCommonSubexpr, KeepsTheNamesOfOutputs) {
  const PassTester tester;
  EXPECT_OK(tester.Check(EliminateCommonSubexpr, R"(
    graph "g" (%x: f32[2]) -> (%y, %z) {
      %y = Relu(%x)
      %z = Relu(%x)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y, %z) {
      %y = Relu(%x)
      %z = Identity "z" (%y)
    })"));
}

}  // namespace
}  // namespace slipway
