// Operators that no pass has ever heard of are treated by their traits.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/operators/register_all.h"
#include "core/passes/alter_layout_pass.h"
#include "core/passes/eliminate_common_subexpr_pass.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/pipeline.h"
#include "core/passes/plan_memory_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/reference/register_all.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using Types = absl::StatusOr<std::vector<ValueType>>;

absl::Status CopyInput(const KernelCall& call) {
  auto copy = call.inputs[0]->Reshaped(call.outputs[0].shape());
  if (!copy.ok()) return copy.status();
  call.outputs[0] = *std::move(copy);
  return absl::OkStatus();
}

// test.Flat: a view of one dimension. test.Turned: a permutation (its elements backwards).
// test.Joined: a concatenation along "axis". test.Square: elementwise. test.Noise: random.
// test.Elements: the number of elements, which hangs on the type alone.
OperatorRegistry MadeUpOperators() {
  OperatorRegistry registry = StandardOperators();
  OperatorSchema flat;
  flat.name = "test.Flat";
  flat.pattern = Pattern::kInjective;
  flat.movement = Movement::kView;
  flat.type_rule = [](const NodeView& view) -> Types {
    const ValueType& x = view.input_type(0);
    return std::vector<ValueType>{ValueType(x.dtype(), {NumElements(x.dimensions())})};
  };
  EXPECT_OK(registry.Add(flat));

  OperatorSchema same;
  same.type_rule = [](const NodeView& view) -> Types {
    return std::vector<ValueType>{view.input_type(0)};
  };
  same.name = "test.Turned";
  same.pattern = Pattern::kInjective;
  same.movement = Movement::kPermutation;
  EXPECT_OK(registry.Add(same));
  same.name = "test.Square";
  same.pattern = Pattern::kElementwise;
  same.movement = Movement::kOther;
  same.layout.role = LayoutRole::kElementwise;
  EXPECT_OK(registry.Add(same));
  same.name = "test.Noise";
  same.layout = {};
  same.random = true;
  EXPECT_OK(registry.Add(same));

  OperatorSchema joined = *registry.Find("Concat");
  joined.name = "test.Joined";
  EXPECT_OK(registry.Add(joined));

  OperatorSchema elements;
  elements.name = "test.Elements";
  elements.reads_types_only = true;
  elements.type_rule = [](const NodeView&) -> Types {
    return std::vector<ValueType>{ValueType(DataType::kInt64, {1})};
  };
  EXPECT_OK(registry.Add(elements));
  return registry;
}

KernelColumn MadeUpKernels() {
  KernelColumn kernels;
  EXPECT_OK(RegisterAllKernels(kernels));
  const Kernel concat = *kernels.Find("Concat");
  EXPECT_OK(kernels.Add("test.Joined", concat));
  EXPECT_OK(kernels.Add("test.Flat", CopyInput));
  EXPECT_OK(kernels.Add("test.Noise", CopyInput));
  EXPECT_OK(kernels.Add("test.Turned", [](const KernelCall& call) {
    const auto x = call.inputs[0]->values<float>();
    std::reverse_copy(x.begin(), x.end(), call.outputs[0].mutable_values<float>().begin());
    return absl::OkStatus();
  }));
  EXPECT_OK(kernels.Add("test.Square", [](const KernelCall& call) {
    const auto x = call.inputs[0]->values<float>();
    std::transform(x.begin(), x.end(), call.outputs[0].mutable_values<float>().begin(),
                   [](float value) { return value * value; });
    return absl::OkStatus();
  }));
  EXPECT_OK(kernels.Add("test.Elements", [](const KernelCall& call) {
    call.outputs[0].mutable_values<int64_t>()[0] = call.view.input_type(0).num_elements();
    return absl::OkStatus();
  }));
  return kernels;
}

class OperatorTraitsTest : public ::testing::Test {
 protected:
  // All passes, with results compared.
  PipelineResult Run(absl::string_view text) {
    PipelineResult result;
    const absl::StatusOr<Graph> before = tester_.Parse(text);
    EXPECT_OK(before);
    if (!before.ok()) return result;
    const auto alter_layout = [](Graph graph, const PassContext& context) {
      return AlterLayout(std::move(graph), context, {8, 4});
    };
    const BackendPipeline backend = {{{"AlterLayout", alter_layout}, {"FuseOps", FuseOps}},
                                     [](const Graph& graph, const PassContext& context) {
                                       return PlanMemory(graph, context.registry);
                                     }};
    const SystemClock clock;
    absl::StatusOr<PipelineResult> run =
        RunPipeline(*before, backend, tester_.context(), {}, clock);
    EXPECT_OK(run);
    if (!run.ok()) return result;
    EXPECT_OK(tester_.CheckSameResults(*before, run->graph, 3, {1e-4, 1e-4}));
    return *std::move(run);
  }
  // The operators of every group, and those outside of groups.
  static std::vector<std::string> Kernels(const Graph& graph) {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes) {
      std::string name = node.op;
      if (node.op == "slipway.Fused") {
        name.clear();
        const auto& body = **node.attributes.FindAs<std::shared_ptr<const Graph>>("body");
        for (const Node& inner : body.nodes) name += (name.empty() ? "" : "+") + inner.op;
      }
      names.push_back(name);
    }
    return names;
  }

  PassTester tester_{MadeUpOperators(), MadeUpKernels()};
};

using Strings = std::vector<std::string>;

TEST_F(OperatorTraitsTest, AViewNeedsNoKernel) {
  const PipelineResult result = Run(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %a = Exp(%x)
      %b = test.Flat(%a)
      %y = Relu(%b)
    })");
  EXPECT_EQ(Kernels(result.graph), (Strings{"Exp", "Reshape", "Relu"}));
  // Where no canonical form takes it in, too: it lies where its input lies.
  ASSERT_OK_AND_ASSIGN(Graph graph, tester_.Parse(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %a = Exp(%x)
      %b = test.Flat(%a)
      %y = Relu(%b)
    })"));
  ASSERT_OK_AND_ASSIGN(graph, FuseOps(std::move(graph), tester_.context()));
  EXPECT_EQ(Kernels(graph), (Strings{"Exp", "test.Flat", "Relu"}));
  ASSERT_OK_AND_ASSIGN(const MemoryPlan plan, PlanMemory(graph, tester_.registry()));
  const Node& view = graph.nodes[1];
  EXPECT_EQ(plan.values[view.outputs[0]].buffer, plan.values[view.inputs[0]].buffer);
  EXPECT_NE(plan.values[view.outputs[0]].buffer, kNoBuffer);
}

TEST_F(OperatorTraitsTest, AnElementwiseOperatorEndsAConvolutionAndKeepsItsLayout) {
  const PipelineResult result = Run(R"(
    graph "g" (%x: f32[1, 8, 4, 4]) -> (%y) {
      const %w: f32[8, 8, 1, 1] = splat 0.25
      const %v: f32[8, 8, 3, 3] = splat 0.5
      %a = Conv(%x, %w)
      %b = test.Square(%a)
      %c = Conv(%b, %v)
      const %space: i64[2] = {2, 3}
      %y = ReduceMean(%c, %space)
    })");
  EXPECT_EQ(Kernels(result.graph), (Strings{"slipway.Pack", "slipway.ConvNCHWc+test.Square",
                                            "slipway.ConvNCHWc", "ReduceMean", "Reshape"}));
}

TEST_F(OperatorTraitsTest, APermutationJoinsElementwiseOperators) {
  const PipelineResult result = Run(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %a = test.Turned(%x)
      %b = test.Square(%a)
      %y = Relu(%b)
    })");
  EXPECT_EQ(Kernels(result.graph), Strings{"test.Turned+test.Square+Relu"});
}

TEST_F(OperatorTraitsTest, AConcatenationIsPlaced) {
  const PipelineResult result = Run(R"(
    graph "g" (%x: f32[1, 16], %z: f32[1, 16]) -> (%y) {
      %a = Exp(%x)
      %b = Neg(%z)
      %c = test.Joined(%a, %b) {axis = -1}
      %y = Relu(%c)
    })");
  EXPECT_EQ(Kernels(result.graph), (Strings{"Exp", "Neg", "test.Joined", "Relu"}));
  const Node& joined = result.graph.nodes[2];
  const std::vector<PlannedValue>& places = result.memory.values;
  EXPECT_EQ(places[joined.inputs[1]].buffer, places[joined.outputs[0]].buffer);
  EXPECT_EQ(places[joined.inputs[1]].offset, 64);
}

TEST_F(OperatorTraitsTest, RandomNumbersAreNeitherFoldedNorShared) {
  constexpr absl::string_view kText = R"(
    graph "g" () -> (%a, %b) {
      const %c: f32[2] = {1, 2}
      %a = test.Noise(%c) : f32[2]
      %b = test.Noise(%c) : f32[2]
    })";
  EXPECT_OK(tester_.Check(FoldConstant, kText, kText));
  EXPECT_OK(tester_.Check(EliminateCommonSubexpr, kText, kText));
}

TEST_F(OperatorTraitsTest, WhatReadsTypesOnlyIsKnownWithThem) {
  // Parse infers types, and evaluates what is known then.
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %n = test.Elements(%x)
      %y = Reshape(%x, %n)
    })"));
  ASSERT_EQ(graph.nodes.size(), 1u);
  const Value& y = graph.values[graph.outputs[0]];
  EXPECT_EQ(ToString(*y.type), "f32[6]");
}

}  // namespace
}  // namespace slipway
