// What passes do about bodies, shown with an operator that has one.
#include "core/passes/bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/operators/register_all.h"
#include "core/passes/eliminate_common_subexpr_pass.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/pipeline.h"
#include "core/passes/testing/pass_tester.h"
#include "core/reference/register_all.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Graph& BodyOf(const Node& node) {
  return **node.attributes.FindAs<std::shared_ptr<const Graph>>("body");
}

std::vector<std::string> OperatorsOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op);
  return names;
}

// test.Apply: the outputs of its body, of its inputs. test.Noise: random.
OperatorRegistry WithApply() {
  OperatorRegistry registry = StandardOperators();
  OperatorSchema apply;
  apply.name = "test.Apply";
  apply.min_inputs = 0;
  apply.max_inputs = kVariadic;
  apply.max_outputs = kVariadic;
  apply.attributes = {{"body", AttributeKind::kGraph, true}};
  apply.body_rule = [](const NodeView& node, absl::string_view) {
    std::vector<ValueType> types;
    for (int i = 0; i < node.num_inputs(); ++i) types.push_back(node.input_type(i));
    return types;
  };
  apply.type_rule = [](const NodeView& node) -> absl::StatusOr<std::vector<ValueType>> {
    std::vector<ValueType> types;
    for (const ValueId id : node.Body("body").outputs) {
      const Value& output = node.Body("body").values[id];
      if (!output.type.has_value()) {
        return node.Annotated(absl::FailedPreconditionError("the body has no types yet"));
      }
      types.push_back(*output.type);
    }
    return types;
  };
  EXPECT_OK(registry.Add(apply));
  OperatorSchema noise;
  noise.name = "test.Noise";
  noise.random = true;
  noise.type_rule = [](const NodeView& node) -> absl::StatusOr<std::vector<ValueType>> {
    return std::vector<ValueType>{node.input_type(0)};
  };
  EXPECT_OK(registry.Add(noise));
  return registry;
}

class BodiesTest : public ::testing::Test {
 protected:
  KernelColumn Kernels() {
    KernelColumn kernels;
    EXPECT_OK(RegisterAllKernels(kernels));
    EXPECT_OK(kernels.Add("test.Noise", [](const KernelCall& call) {
      call.outputs[0] = *call.inputs[0];
      return absl::OkStatus();
    }));
    EXPECT_OK(kernels.Add("test.Apply", [this](const KernelCall& call) {
      std::vector<Tensor> inputs;
      for (const Tensor* input : call.inputs) inputs.push_back(*input);
      absl::StatusOr<std::vector<Tensor>> made =
          tester_.reference().Evaluate(call.view.Body("body"), inputs);
      if (!made.ok()) return made.status();
      for (size_t i = 0; i < made->size(); ++i) call.outputs[i] = (*made)[i];
      return absl::OkStatus();
    }));
    return kernels;
  }
  absl::StatusOr<PipelineResult> Run(absl::string_view text, const BackendPipeline& backend = {}) {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    if (!graph.ok()) return graph.status();
    const SystemClock clock;
    return RunPipeline(*graph, backend, tester_.context(), {}, clock);
  }
  absl::Status VerifyText(absl::string_view text) {
    const absl::StatusOr<Graph> graph = ParseGraph(text);
    return graph.ok() ? Verify(*graph, tester_.registry()) : graph.status();
  }

  PassTester tester_{WithApply(), Kernels()};
};

TEST_F(BodiesTest, TypesInsideFollowFromThoseOutside) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %a = Transpose(%x)
      %b = test.Apply(%a) {body = graph "outer" (%i) -> (%o) {
        %o = test.Apply(%i) {body = graph "inner" (%j) -> (%p) {
          %k = Transpose(%j)
          %p = MatMul(%j, %k)
        }}
      }}
      %y = Relu(%b)
    })"));
  EXPECT_EQ(ToString(*graph.values[graph.outputs[0]].type), "f32[3, 3]");
  const Graph& inner = BodyOf(BodyOf(graph.nodes[1]).nodes[0]);
  EXPECT_EQ(ToString(*inner.values[inner.inputs[0]].type), "f32[3, 2]");
}

TEST_F(BodiesTest, PassesDescend) {
  constexpr absl::string_view kText = R"(
    graph "g" (%x: f32[2, 2]) -> (%y) {
      %y = test.Apply(%x) {body = graph "outer" (%i) -> (%o) {
        const %a: f32[] = {1}
        const %b: f32[] = {2}
        %sum = Add(%a, %b)
        %dead = Exp(%i)
        %same = Identity(%i)
        %z = test.Apply(%same) {body = graph "inner" (%j) -> (%p) {
          %e = Exp(%j)
          %f = Exp(%j)
          %p = Sum(%e, %f)
        }}
        %o = Mul(%z, %sum)
      }}
    })";
  ASSERT_OK_AND_ASSIGN(const PipelineResult result, Run(kText));
  const Graph& outer = BodyOf(result.graph.nodes[0]);
  EXPECT_THAT(OperatorsOf(outer), ElementsAre("test.Apply", "Mul"));
  EXPECT_THAT(OperatorsOf(BodyOf(outer.nodes[0])), ElementsAre("Exp", "Add"));
  ASSERT_OK_AND_ASSIGN(const Graph before, tester_.Parse(kText));
  EXPECT_OK(tester_.CheckSameResults(before, result.graph, 7));
}

TEST_F(BodiesTest, OnlyPassesThatDescendEnterAndOnlyOrdinaryBodies) {
  std::vector<std::string> seen;
  const Pass look = [&seen](Graph graph, const PassContext&) -> absl::StatusOr<Graph> {
    seen.push_back(graph.name);
    return graph;
  };
  constexpr absl::string_view kText = R"(
    graph "g" (%x: f32[2]) -> (%y, %z) {
      %y = test.Apply(%x) {body = graph "outer" (%i) -> (%o) {
        %o = test.Apply(%i) {body = graph "inner" (%j) -> (%p) { %p = Exp(%j) }}
      }}
      %z = slipway.Fused(%x) {body = graph "kernel" (%k: f32[2]) -> (%q) {
        %q = Exp(%k) : f32[2]
      }}
    })";
  ASSERT_OK(Run(kText, {{{"Look", look}}, nullptr}));
  EXPECT_THAT(seen, ElementsAre("inner", "outer", "g"));
  seen.clear();
  ASSERT_OK(Run(kText, {{{"Look", look, /*descends=*/false}}, nullptr}));
  EXPECT_THAT(seen, ElementsAre("g"));
}

TEST_F(BodiesTest, ErrorsSayWhereTheyAre) {
  const Pass fail = [](Graph graph, const PassContext&) -> absl::StatusOr<Graph> {
    if (graph.name == "inner") return absl::UnimplementedError("no such thing");
    return graph;
  };
  EXPECT_THAT(Run(R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %y = test.Apply "loop" (%x) {body = graph "inner" (%i) -> (%o) { %o = Exp(%i) }}
    })",
                  {{{"Fail", fail}}, nullptr}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("Fail"), HasSubstr("\"loop\" (test.Apply) body \"body\""),
                             HasSubstr("no such thing"))));
}

TEST_F(BodiesTest, InputsOfAnotherTypeOrNumberAreRefused) {
  const auto text = [](absl::string_view body) {
    return absl::StrCat("graph \"g\" (%x: f32[2]) -> (%y) { %y = test.Apply(%x) {body = ",
                        "graph \"b\" ", body, " }}");
  };
  EXPECT_OK(VerifyText(text("(%i: f32[2]) -> (%o) { %o = Exp(%i) }")));
  EXPECT_THAT(VerifyText(text("(%i: f32[3]) -> (%o) { %o = Exp(%i) }")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input \"i\" of body \"body\" is f32[3] but is given f32[2]")));
  EXPECT_THAT(VerifyText(text("(%i, %j: f32[2]) -> (%o) { %o = Exp(%i) }")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("body \"body\" has 2 inputs where it is given 1")));
  EXPECT_THAT(Run(text("(%i: f32[3]) -> (%o) { %o = Exp(%i) }")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is given f32[2]")));
}

TEST_F(BodiesTest, WhatIsRandomInsideIsRandom) {
  const auto text = [](absl::string_view op) {
    return absl::StrCat("graph \"g\" () -> (%y, %z) { const %x: f32[1] = {3} ",
                        "%y = test.Apply(%x) {body = graph \"b\" (%i: f32[1]) -> (%o) {",
                        "%o = ", op, "(%i) : f32[1] }} : f32[1] ",
                        "%z = test.Apply(%x) {body = graph \"b\" (%i: f32[1]) -> (%o) {",
                        "%o = ", op, "(%i) : f32[1] }} : f32[1] }");
  };
  ASSERT_OK_AND_ASSIGN(const Graph noise, ParseGraph(text("test.Noise")));
  ASSERT_OK_AND_ASSIGN(const Graph folded, FoldConstant(noise, tester_.context()));
  EXPECT_THAT(OperatorsOf(folded), ElementsAre("test.Apply", "test.Apply"));
  ASSERT_OK_AND_ASSIGN(const Graph merged, EliminateCommonSubexpr(noise, tester_.context()));
  EXPECT_THAT(OperatorsOf(merged), ElementsAre("test.Apply", "test.Apply"));
  // And what is not, is not.
  ASSERT_OK_AND_ASSIGN(const Graph plain, ParseGraph(text("Exp")));
  ASSERT_OK_AND_ASSIGN(const Graph gone, FoldConstant(plain, tester_.context()));
  EXPECT_TRUE(gone.nodes.empty());
}

}  // namespace
}  // namespace slipway
