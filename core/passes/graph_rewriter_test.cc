#include "core/passes/graph_rewriter.h"

#include <gtest/gtest.h>

#include "core/graph/text.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(GraphRewriter, CountsUsesThroughReplacements) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[1]) -> (%y) {
      %a = Relu "a" (%x)
      %b = Identity "b" (%a)
      %y = Mul "m" (%b, %b)
    })"));
  GraphRewriter rewriter(graph, tester.registry());
  std::vector<Node> nodes = rewriter.TakeNodes();
  const ValueId a = nodes[0].outputs[0];
  rewriter.Keep(nodes[0]);
  EXPECT_EQ(rewriter.Uses(a), 1);
  EXPECT_EQ(rewriter.Producer(a)->name, "a");
  rewriter.Replace(nodes[1], a);
  EXPECT_EQ(rewriter.Uses(a), 2);
  rewriter.Resolve(nodes[2]);
  EXPECT_EQ(nodes[2].inputs, (std::vector<ValueId>{a, a}));
  rewriter.Keep(nodes[2]);
  ASSERT_OK_AND_ASSIGN(const Graph after, std::move(rewriter).Finish());
  EXPECT_EQ(after.nodes.size(), 2u);
}

TEST(GraphRewriter, InfersTypesAndFindsFreeNames) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %y = Relu(%x)
    })"));
  GraphRewriter rewriter(graph, tester.registry());
  ASSERT_OK_AND_ASSIGN(const ValueId t, rewriter.Add("Transpose", {rewriter.graph().inputs[0]},
                                                     {{"perm", Ints({1, 0})}}, "y"));
  EXPECT_EQ(ToString(rewriter.type(t)), "f32[3, 2]");
  EXPECT_EQ(rewriter.graph().values[t].name, "y_1");
  EXPECT_THAT(rewriter.Add("MatMul", {t, t}, {}, "m"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"m\" (MatMul)")));
}

// Two outputs come to be one value; a third, an input.
TEST(GraphRewriter, OutputsKeepTheirNames) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[1]) -> (%p, %q, %r, %q) {
      %a = Relu "a" (%x)
      %p = Identity(%a)
      %q = Identity(%a)
      %r = Identity(%x)
    })"));
  GraphRewriter rewriter(graph, tester.registry());
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    if (node.op == "Identity") {
      rewriter.Replace(node, node.inputs[0]);
    } else {
      rewriter.Keep(std::move(node));
    }
  }
  ASSERT_OK_AND_ASSIGN(const Graph after, std::move(rewriter).Finish());
  ASSERT_OK_AND_ASSIGN(const Graph expected, tester.Parse(R"(
    graph "g" (%x: f32[1]) -> (%p, %q, %r, %q) {
      %p = Relu "a" (%x)
      %q = Identity "q" (%p)
      %r = Identity "r" (%x)
    })"));
  EXPECT_EQ(Print(after), Print(expected));
}

}  // namespace
}  // namespace slipway
