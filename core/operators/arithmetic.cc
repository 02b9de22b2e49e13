#include "core/operators/arithmetic.h"

#include <vector>

#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> BroadcastType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions dimensions, BroadcastAllInputs(view));
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), dimensions)};
}

absl::StatusOr<std::vector<ValueType>> ArithmeticType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  return BroadcastType(view);
}

// The exponent may have a type of its own.
absl::StatusOr<std::vector<ValueType>> PowType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, TypeSet::kAnyNumeric));
  return BroadcastType(view);
}

}  // namespace

absl::Status RegisterArithmeticOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kBroadcast;
  schema.layout.role = LayoutRole::kElementwise;
  schema.type_rule = ArithmeticType;
  schema.contents_rule = ArithmeticContents;
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
  schema.contents_rule = nullptr;
  schema.name = "Pow";
  schema.min_inputs = schema.max_inputs = 2;
  schema.type_rule = PowType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  OperatorSchema mean;
  mean.name = "Mean";
  mean.max_inputs = kVariadic;
  mean.type_rule = ArithmeticType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(mean));
  OperatorSchema mod;
  mod.name = "Mod";
  mod.min_inputs = mod.max_inputs = 2;
  mod.attributes = {IntAttribute("fmod", 0)};
  mod.type_rule = ArithmeticType;
  return registry.Add(mod);
}

}  // namespace slipway
