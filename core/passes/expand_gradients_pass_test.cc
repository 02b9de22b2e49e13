#include "core/passes/expand_gradients_pass.h"

#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ExpandGradients, AreTheirWayForwardAndBack) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
graph "g" (%x: f32[2], %k: f32[2]) -> (%dx) {
  %u = Exp(%x)
  %dx = slipway.Gradient "back" (%u, %k, %x) {derived_inputs = 1, captures = 1,
    body = graph "y" (%u, %k, %x) -> (%y) {
      %p = Mul(%u, %k)
      %q = Mul(%p, %u)
      %y = Mul(%q, %x)
    }
  }
})"));
  ASSERT_OK_AND_ASSIGN(const Graph expanded, ExpandGradients(graph, tester.context()));
  for (const Node& node : expanded.nodes) EXPECT_NE(node.op, "slipway.Gradient");
  ASSERT_OK_AND_ASSIGN(const Graph wanted, tester.Parse(R"(
graph "g" (%x: f32[2], %k: f32[2]) -> (%dx) {
  const %two: f32[] = {2}
  %u = Exp(%x)
  %a = Mul(%u, %k)
  %b = Mul(%a, %x)
  %dx = Mul(%b, %two)
})"));
  EXPECT_OK(tester.CheckSameResults(wanted, expanded, 3));
}

TEST(ExpandGradients, WhatHasNoneIsNamed) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
graph "g" (%x: f32[1, 2, 4]) -> (%dx) {
  %dx = slipway.Gradient "back" (%x) {derived_inputs = 1,
    body = graph "y" (%x) -> (%y) {
      const %s: f32[3] = {1, 1, 2}
      %y = Resize "up" (%x, _, %s)
    }
  }
})"));
  EXPECT_THAT(ExpandGradients(graph, tester.context()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("node \"back\" (slipway.Gradient)"),
                             HasSubstr("node \"up\" (Resize): the operator has no gradient"))));
}

}  // namespace
}  // namespace slipway
