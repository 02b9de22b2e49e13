#include "core/operators/fused.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Input `i` of the node against the value of the body that it is.
absl::Status CheckIs(const NodeView& view, int i, const Value& value) {
  if (view.has_input(i) && value.type.has_value() && !Contradict(*value.type, view.input_type(i))) {
    return absl::OkStatus();
  }
  return view.Error(
      absl::StrCat("input ", i, " has another type than the body's \"", value.name, "\""));
}

absl::Status CheckCounts(const NodeView& view, size_t inputs, size_t outputs) {
  if (static_cast<int>(inputs) == view.num_inputs() &&
      static_cast<int>(outputs) == view.num_outputs()) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("has ", view.num_inputs(), " inputs and ", view.num_outputs(),
                                 " outputs, by its body it must have ", inputs, " and ", outputs));
}

absl::StatusOr<std::vector<ValueType>> OutputTypes(const NodeView& view, const Graph& body) {
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

absl::StatusOr<std::vector<ValueType>> FusedType(const NodeView& view) {
  const Graph& body = view.Body(kFusedBody);
  SLIPWAY_RETURN_IF_ERROR(CheckCounts(view, body.inputs.size(), body.outputs.size()));
  for (int i = 0; i < view.num_inputs(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckIs(view, i, body.values[body.inputs[i]]));
  }
  return OutputTypes(view, body);
}

absl::StatusOr<std::vector<ValueType>> CallType(const NodeView& view) {
  const ValueType& parameters = view.input_type(0);
  if (parameters.dtype() != DataType::kInt64 || parameters.rank() != 1) {
    return view.Error(absl::StrCat("input 0 must be i64[n], not ", ToString(parameters)));
  }
  const Graph& body = view.Body(kFusedBody);
  if (body.nodes.size() != 1) {
    return view.Error(absl::StrCat("its body must have 1 node, not ", body.nodes.size()));
  }
  std::vector<ValueId> operands;
  for (const ValueId id : body.nodes[0].inputs) {
    if (id != kNoValue) operands.push_back(id);
  }
  const int64_t extents = view.Int(kCallExtents);
  SLIPWAY_RETURN_IF_ERROR(
      CheckCounts(view, operands.size() + 1, extents > 0 ? 1 : body.outputs.size()));
  for (size_t i = 0; i < operands.size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckIs(view, static_cast<int>(i) + 1, body.values[operands[i]]));
  }
  for (const ValueId id : body.inputs) {
    if (std::count(operands.begin(), operands.end(), id) > 0) continue;
    return view.Error(absl::StrCat("its body's node does not read \"", body.values[id].name, "\""));
  }
  if (extents > 0) return std::vector<ValueType>{ValueType(DataType::kInt64, {extents})};
  return OutputTypes(view, body);
}

absl::StatusOr<std::vector<ValueType>> BindSymbolsType(const NodeView& view) {
  const ValueType& numbers = view.input_type(0);
  const auto count = static_cast<int64_t>(view.Strings(kBoundSymbols).size());
  if (numbers.dtype() != DataType::kInt64 || Contradict(NumElements(numbers.dimensions()), count)) {
    return view.Error(absl::StrCat("input 0 must be i64[", count, "], not ", ToString(numbers)));
  }
  return std::vector<ValueType>();
}

}  // namespace

std::vector<int> CallInputsOfBody(const Graph& body) {
  std::vector<int> places;
  for (const ValueId input : body.inputs) {
    int place = 0;
    for (const ValueId id : body.nodes[0].inputs) {
      if (id == kNoValue) continue;
      ++place;
      if (id == input) break;
    }
    places.push_back(place);
  }
  return places;
}

int64_t DeviceNumberOf(const Node& node) {
  const int64_t* const number = node.attributes.FindAs<int64_t>(absl::string_view(kFusedDevice));
  return number == nullptr ? 0 : *number;
}

bool IsDeviceCopy(const Node& node) {
  const int64_t* const copies = node.attributes.FindAs<int64_t>(absl::string_view(kFusedCopies));
  return copies != nullptr && *copies != 0;
}

Precision ProductsOfNode(const Node& node) {
  const int64_t* const number = node.attributes.FindAs<int64_t>(absl::string_view(kFusedProducts));
  return number == nullptr ? Precision::kFloat32 : static_cast<Precision>(*number);
}

absl::Status RegisterFusedOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.name = kFusedOperator;
  schema.min_inputs = 0;
  schema.max_inputs = kVariadic;
  schema.max_outputs = kVariadic;
  schema.attributes = {{kFusedBody, AttributeKind::kGraph, true},
                       {kFusedDevice, AttributeKind::kInt, false, Attribute(int64_t{0})},
                       {kFusedCopies, AttributeKind::kInt, false, Attribute(int64_t{0})},
                       {kFusedProducts, AttributeKind::kInt, false,
                        Attribute(static_cast<int64_t>(Precision::kFloat32))}};
  schema.pattern = Pattern::kKernel;
  schema.type_rule = FusedType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = kCallOperator;
  schema.min_inputs = 1;
  schema.attributes = {{kFusedBody, AttributeKind::kGraph, true},
                       {kCallSymbol, AttributeKind::kString, true},
                       {kCallExtents, AttributeKind::kInt, false, Attribute(int64_t{0})}};
  schema.type_rule = CallType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  OperatorSchema bind;
  bind.name = kBindSymbolsOperator;
  bind.min_outputs = bind.max_outputs = 0;
  bind.attributes = {{kBoundSymbols, AttributeKind::kStrings, true}};
  bind.pattern = Pattern::kKernel;
  bind.type_rule = BindSymbolsType;
  return registry.Add(bind);
}

}  // namespace slipway
