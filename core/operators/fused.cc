#include "core/operators/fused.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> FusedType(const NodeView& view) {
  const Graph& body = view.Body(kFusedBody);
  if (static_cast<int>(body.inputs.size()) != view.num_inputs() ||
      static_cast<int>(body.outputs.size()) != view.num_outputs()) {
    return view.Error(absl::StrCat("has ", view.num_inputs(), " inputs and ", view.num_outputs(),
                                   " outputs, its body ", body.inputs.size(), " and ",
                                   body.outputs.size()));
  }
  for (int i = 0; i < view.num_inputs(); ++i) {
    const Value& input = body.values[body.inputs[i]];
    if (!view.has_input(i) || !input.type.has_value() ||
        Contradict(*input.type, view.input_type(i))) {
      return view.Error(
          absl::StrCat("input ", i, " has another type than the body's \"", input.name, "\""));
    }
  }
  std::vector<ValueType> types;
  for (const ValueId id : body.outputs) {
    const Value& output = body.values[id];
    if (!output.type.has_value()) {
      return view.Error(absl::StrCat("the body's output \"", output.name, "\" has no type"));
    }
    types.push_back(*output.type);
  }
  return types;
}

}  // namespace

absl::Status RegisterFusedOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.name = kFusedOperator;
  schema.min_inputs = 0;
  schema.max_inputs = kVariadic;
  schema.max_outputs = kVariadic;
  schema.attributes = {{kFusedBody, AttributeKind::kGraph, true}};
  schema.type_rule = FusedType;
  return registry.Add(schema);
}

}  // namespace slipway
