#include "client/examples/own_operator/squareplus.h"

#include <cmath>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/status_macros.h"
#include "core/codegen/lowering.h"
#include "core/graph/operator_registry.h"
#include "core/reference/kernel.h"
#include "core/tensor/dtype.h"

namespace slipway::examples {
namespace {

// The type rule: from the types of the inputs to those of the outputs.
absl::StatusOr<std::vector<ValueType>> SquareplusType(const NodeView& node) {
  if (node.input_type(0).dtype() != DataType::kFloat32) {
    return node.Error("x must be of type f32");
  }
  if (!(node.Float("b") >= 0)) return node.Error("\"b\" must not be negative");
  return std::vector<ValueType>{node.input_type(0)};
}

// The kernel of the reference: plain loops. It folds constants, and tests compare with it.
absl::Status EvaluateSquareplus(const KernelCall& call) {
  const auto x = call.inputs[0]->values<float>();
  const auto y = call.outputs[0].mutable_values<float>();
  const float b = call.view.Float("b");
  for (size_t i = 0; i < x.size(); ++i) y[i] = (x[i] + std::sqrt(x[i] * x[i] + b)) / 2;
  return absl::OkStatus();
}

// The lowering: what it contributes to the Halide pipeline of its kernel. An expression without a schedule
// is computed wherever it is used.
absl::StatusOr<std::vector<Halide::Func>> LowerSquareplus(LoweringContext& context) {
  const std::vector<Halide::Var> at =
      FreshVars(static_cast<int>(context.output_types[0].shape.size()));
  const Halide::Expr x = context.inputs[0](AsExprs(at));
  Halide::Func y("squareplus");
  y(at) = (x + Halide::sqrt(x * x + context.node.Float("b"))) / 2.0f;
  return std::vector<Halide::Func>{y};
}

}  // namespace

OwnOperator Squareplus() {
  OperatorSchema schema;
  schema.name = "example.Squareplus";
  schema.attributes = {{"b", AttributeKind::kFloat, false, 4.0f}};
  schema.type_rule = SquareplusType;
  // Traits: it may end the kernel of a convolution or product, in whatever layout that computes.
  schema.pattern = Pattern::kElementwise;
  schema.layout.role = LayoutRole::kElementwise;
  // The revision is raised with every change to the above: caches rest on it.
  return {schema, EvaluateSquareplus, Lowering(LowerSquareplus, "1").Serving(ServesFloat32)};
}

}  // namespace slipway::examples
