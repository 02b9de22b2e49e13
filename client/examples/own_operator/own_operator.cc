// Builds a graph, puts an operator of our own into it by a pass of our own, compiles and runs it.
#include "core/compiler/own_operator.h"

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/codegen/lowering.h"
#include "core/compiler/compiler.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "core/passes/pipeline.h"
#include "core/runtime/load_program.h"

namespace slipway::examples {
namespace {

// example.Squareplus: y = (x + sqrt(x * x + b)) / 2, a smooth relative of Relu (Barron, "Squareplus", 2021).
absl::StatusOr<std::vector<ValueType>> SquareplusType(const NodeView& node) {
  if (node.input_type(0).dtype() != DataType::kFloat32) return node.Error("x must be f32");
  return std::vector<ValueType>{node.input_type(0)};
}

// The kernel of the reference.
absl::Status EvaluateSquareplus(const KernelCall& call) {
  const auto x = call.inputs[0]->values<float>();
  const auto y = call.outputs[0].mutable_values<float>();
  const float b = call.view.Float("b");
  for (size_t i = 0; i < x.size(); ++i) y[i] = (x[i] + std::sqrt(x[i] * x[i] + b)) / 2;
  return absl::OkStatus();
}

// The lowering: what it contributes to the Halide pipeline of its kernel.
absl::StatusOr<std::vector<Halide::Func>> LowerSquareplus(LoweringContext& context) {
  const auto at = FreshVars(context.output_types[0].rank());
  const Halide::Expr x = context.inputs[0](AsExprs(at));
  Halide::Func y("squareplus");
  y(at) = (x + Halide::sqrt(x * x + context.node.Float("b"))) / 2.0f;
  return std::vector<Halide::Func>{y};
}

OwnOperator Squareplus() {
  OperatorSchema schema;
  schema.name = "example.Squareplus";
  schema.attributes = {{"b", AttributeKind::kFloat, false, 4.0f}};
  schema.type_rule = SquareplusType;
  schema.pattern = Pattern::kElementwise;  // It may end the kernel of a product.
  return {schema, EvaluateSquareplus, Lowering(LowerSquareplus, "1").Serving(ServesFloat32)};
}

// The pass: every Relu becomes a Squareplus.
absl::StatusOr<Graph> SmoothRelus(Graph graph, const PassContext&) {
  for (Node& node : graph.nodes) {
    if (node.op != "Relu") continue;
    node.op = "example.Squareplus";
    node.attributes.Set("b", 2.0f);
  }
  return graph;
}

absl::Status RunExample() {
  const OwnOperator squareplus = Squareplus();
  OperatorRegistry registry = StandardOperators();
  SLIPWAY_RETURN_IF_ERROR(registry.Add(squareplus.schema));
  GraphBuilder builder("own_operator", registry);
  const ValueId x = builder.Input("x", DataType::kFloat32, {1, 2});
  const ValueId w = builder.Constant("w", Tensor::Of<float>({2, 1}, {1, 0.5f}));
  builder.Output(builder.Add("Relu", {builder.Add("MatMul", {x, w})}));
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, std::move(builder).Build());

  const SystemClock clock;
  const Reference reference(registry);
  std::vector<PassReport> reports;
  SLIPWAY_ASSIGN_OR_RETURN(graph, RunPass({"SmoothRelus", SmoothRelus}, std::move(graph),
                                          {registry, reference}, clock, reports));
  const CompileEnvironment environment{.clock = &clock, .own_operators = {&squareplus, 1}};
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel compiled,
                           CompileGraph(graph, HostTarget(), {}, environment));
  SLIPWAY_ASSIGN_OR_RETURN(const auto program, LoadProgram(compiled.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const auto context, program->NewContext({}));
  std::vector<Tensor> outputs(1);
  const Tensor input = Tensor::Of<float>({1, 2}, {3, -2});
  SLIPWAY_RETURN_IF_ERROR(context->Run({input}, absl::MakeSpan(outputs)));
  const float got = outputs[0].values<float>()[0];
  const float expected = (2 + std::sqrt(2.0f * 2 + 2)) / 2;
  return std::abs(got - expected) < 1e-5f ? absl::OkStatus() : absl::InternalError("wrong");
}

}  // namespace
}  // namespace slipway::examples

int main() {
  const absl::Status status = slipway::examples::RunExample();
  std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
