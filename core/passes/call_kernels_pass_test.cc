#include "core/passes/call_kernels_pass.h"

#include <optional>
#include <string>
#include <vector>

#include "core/graph/verifier.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

constexpr char kCall[] = "slipway.Call";

bool Everything(const NodeView&, absl::Span<const ValueType>) { return true; }
bool Nothing(const NodeView&, absl::Span<const ValueType>) { return false; }
bool AllButTopK(const NodeView& view, absl::Span<const ValueType>) { return view.op() != "TopK"; }

class CallKernelsTest : public ::testing::Test {
 protected:
  // The graph afterwards, verified and compared with the one before.
  Graph Call(absl::string_view text, const IsLowered& is_lowered) {
    absl::StatusOr<Graph> before = tester_.Parse(text);
    EXPECT_OK(before);
    if (!before.ok()) return Graph();
    absl::StatusOr<Graph> after = CallKernels(*before, tester_.context(), is_lowered);
    EXPECT_OK(after);
    if (!after.ok()) return Graph();
    EXPECT_OK(Verify(*after, tester_.registry(), {.require_types = true}));
    EXPECT_OK(tester_.CheckSameResults(*before, *after, 5));
    return *std::move(after);
  }
  static std::vector<std::string> Operators(const Graph& graph) {
    std::vector<std::string> operators;
    for (const Node& node : graph.nodes) operators.push_back(node.op);
    return operators;
  }

  PassTester tester_;
};

using Strings = std::vector<std::string>;

constexpr char kTopOfRelu[] = R"(
    graph "g" (%x: f32[2, 5]) -> (%values, %places) {
      const %k: i64[1] = {2}
      %r = Relu(%x)
      %values, %places = TopK "best" (%r, %k)
    })";

TEST_F(CallKernelsTest, WhatHasNoLoweringBecomesACall) {
  const Graph graph = Call(kTopOfRelu, AllButTopK);
  EXPECT_EQ(Operators(graph), (Strings{"Relu", kCall}));
  const Node& call = graph.nodes[1];
  EXPECT_EQ(*call.attributes.FindAs<std::string>("kernel"), "slipway_TopK");
  ASSERT_EQ(call.inputs.size(), 3u);  // The parameters, x, k.
  const std::optional<Tensor>& parameters = graph.values[call.inputs[0]].constant;
  ASSERT_TRUE(parameters.has_value());
  // Two inputs, two outputs, their types, the axis, whether the largest are wanted.
  EXPECT_THAT(parameters->values<int64_t>(), ::testing::ElementsAre(2, 2, 1, 7, 1, 7, 1, 1));
}

TEST_F(CallKernelsTest, WhatIsLoweredStays) {
  EXPECT_EQ(Operators(Call(kTopOfRelu, Everything)), (Strings{"Relu", "TopK"}));
}

TEST_F(CallKernelsTest, OmittedOutputsAreNoArguments) {
  const Graph graph = Call(R"(
    graph "g" (%x: f32[5]) -> (%values) {
      const %k: i64[1] = {2}
      %values = TopK(%x, %k)
    })",
                           Nothing);
  ASSERT_EQ(Operators(graph), Strings{kCall});
  EXPECT_EQ(graph.nodes[0].outputs.size(), 1u);
}

TEST_F(CallKernelsTest, NodesWithoutANameHaveParametersOfTheirOwn) {
  const Graph graph = Call(R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %a = Relu(%x)
      %y = Abs(%a)
    })",
                           Nothing);
  EXPECT_EQ(Operators(graph), (Strings{kCall, kCall}));
}

TEST_F(CallKernelsTest, ViewsNeedNoKernel) {
  const Graph graph = Call(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %y = Flatten(%x) {axis = 0}
    })",
                           Nothing);
  EXPECT_EQ(Operators(graph), Strings{"Flatten"});
}

TEST_F(CallKernelsTest, ExtentsAreFoundBeforeTheCallThatNeedsThem) {
  ASSERT_OK_AND_ASSIGN(Graph graph, tester_.Parse(R"(
    graph "g" (%x: f32[4, 6], %shape: i64[3], %repeats: i64[2]) -> (%t) {
      %r = Reshape "r" (%x, %shape)
      %t = Tile "t" (%x, %repeats)
      %k = Flatten(%r)
    })"));
  ASSERT_OK_AND_ASSIGN(graph, CallKernels(std::move(graph), tester_.context(), Everything));
  EXPECT_OK(Verify(graph, tester_.registry(), {.require_types = true}));
  ASSERT_EQ(Operators(graph), (Strings{kCall, "slipway.BindSymbols", kCall, kCall,
                                       "slipway.BindSymbols", kCall, "Flatten"}));
  EXPECT_EQ(*graph.nodes[0].attributes.FindAs<std::string>("kernel"), "slipway_Reshape_extents");
  EXPECT_EQ(*graph.nodes[1].attributes.FindAs<Strings>("symbols"), (Strings{"r", "r.1", "r.2"}));
}

TEST_F(CallKernelsTest, OneNumberMayBeSeveralExtents) {
  ASSERT_OK_AND_ASSIGN(Graph graph, tester_.Parse(R"(
    graph "g" (%x: f32[6], %k: i64[1]) -> (%values, %places) {
      %values, %places = TopK(%x, %k)
    })"));
  EXPECT_EQ(graph.values[graph.outputs[0]].type->dimension(0),
            graph.values[graph.outputs[1]].type->dimension(0));
  ASSERT_OK_AND_ASSIGN(graph, CallKernels(std::move(graph), tester_.context(), Everything));
  EXPECT_EQ(Operators(graph), (Strings{kCall, "slipway.BindSymbols", kCall}));
}

}  // namespace
}  // namespace slipway
