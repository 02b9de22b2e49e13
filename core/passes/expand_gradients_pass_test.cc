#include "core/passes/expand_gradients_pass.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/passes/pipeline.h"
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

TEST(ExpandGradients, GradientsOfGradientsAreBounded) {
  const PassTester tester;
  std::string nodes = "%v0 = Sin(%x)\n";
  for (int i = 0; i < 2'000; ++i) absl::StrAppend(&nodes, "%v", i + 1, " = Tanh(%v", i, ")\n");
  std::string body = absl::StrCat("graph \"g\" (%x) -> (%v2000) {\n", nodes, "}");
  for (int depth = 0; depth < 4; ++depth) {
    body = absl::StrCat("graph \"g\" (%x) -> (%d) {\n %d = slipway.Gradient \"deep\" (%x) ",
                        "{derived_inputs = 1, body = ", body, "}}");
  }
  body.replace(body.find("(%x)"), 4, "(%x: f32[])");
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(body));
  const SystemClock clock;
  EXPECT_THAT(RunPipeline(graph, {}, tester.context(), {}, clock),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("node \"deep\""), HasSubstr("the limit of 50000"))));
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
