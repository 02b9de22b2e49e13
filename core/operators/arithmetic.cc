#include "core/operators/arithmetic.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<Shape> BroadcastInputs(const NodeView& view) {
  Shape shape = view.input_shape(0);
  for (int i = 1; i < view.num_inputs(); ++i) {
    auto both = BroadcastShapes(shape, view.input_shape(i));
    if (!both.ok()) return view.Annotated(both.status());
    shape = *std::move(both);
  }
  return shape;
}

absl::StatusOr<std::vector<TensorType>> ArithmeticType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(view));
  return std::vector<TensorType>{{view.input_type(0).dtype, std::move(shape)}};
}

// The exponent may have a type of its own.
absl::StatusOr<std::vector<TensorType>> PowType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, TypeSet::kNumeric));
  SLIPWAY_ASSIGN_OR_RETURN(Shape shape, BroadcastInputs(view));
  return std::vector<TensorType>{{view.input_type(0).dtype, std::move(shape)}};
}

}  // namespace

absl::Status RegisterArithmeticOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kBroadcast;
  schema.layout.role = LayoutRole::kElementwise;
  schema.type_rule = ArithmeticType;
  schema.min_inputs = schema.max_inputs = 2;
  for (const char* name : {"Add", "Sub", "Mul", "Div"}) {
    schema.name = name;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  schema.min_inputs = 1;
  schema.max_inputs = kVariadic;
  for (const char* name : {"Sum", "Min", "Max"}) {
    schema.name = name;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  schema.name = "Pow";
  schema.min_inputs = schema.max_inputs = 2;
  schema.type_rule = PowType;
  return registry.Add(schema);
}

}  // namespace slipway
