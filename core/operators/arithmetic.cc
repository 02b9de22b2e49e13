#include "core/operators/arithmetic.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> BroadcastType(const NodeView& view) {
  Dimensions dimensions = view.input_type(0).dimensions();
  for (int i = 1; i < view.num_inputs(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(dimensions,
                             BroadcastInputs(view, dimensions, view.input_type(i).dimensions()));
  }
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), dimensions)};
}

absl::StatusOr<std::vector<ValueType>> ArithmeticType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  return BroadcastType(view);
}

// The exponent may have a type of its own.
absl::StatusOr<std::vector<ValueType>> PowType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, TypeSet::kNumeric));
  return BroadcastType(view);
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
