#include "core/operators/control.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

// FAILED_PRECONDITION while the body has no types.
absl::StatusOr<ValueType> OutputType(const NodeView& view, const Graph& body, int output) {
  const Value& value = body.values[body.outputs[output]];
  if (value.type.has_value()) return *value.type;
  return view.Annotated(absl::FailedPreconditionError(
      absl::StrCat("the body's output \"", value.name, "\" has no type yet")));
}

absl::Status CheckOneElement(const NodeView& view, const ValueType& type, DataType dtype,
                             absl::string_view what) {
  const bool fits = type.dtype() == dtype && type.rank() <= 1 &&
                    (type.rank() == 0 || !view.Differ(type.dimension(0), Dimension(1)));
  if (fits) return absl::OkStatus();
  return view.Error(absl::StrCat(what, " is ", ToString(type), " where one element of type ",
                                 Name(dtype), " is needed"));
}

// What a value is that is one thing or the other.
absl::StatusOr<ValueType> JoinOrRefuse(const NodeView& view, const ValueType& a, const ValueType& b,
                                       absl::string_view what) {
  const std::optional<ValueType> joined = Join(a, b);
  if (joined.has_value()) return *joined;
  return view.Unimplemented(absl::StrCat(what, " is ", ToString(a), " or ", ToString(b),
                                         ": another element type or rank is not supported"));
}

// If.

absl::StatusOr<std::vector<ValueType>> IfBodyInputs(const NodeView& view, absl::string_view) {
  std::vector<ValueType> types;
  for (int i = 1; i < view.num_inputs(); ++i) types.push_back(view.input_type(i));
  return types;
}

absl::StatusOr<std::vector<ValueType>> IfType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(
      CheckOneElement(view, view.input_type(0), DataType::kBool, "the condition (input 0)"));
  SLIPWAY_ASSIGN_OR_RETURN(const IfView branches, DecodeIf(view));
  std::vector<ValueType> types;
  for (int i = 0; i < view.num_outputs(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueType a, OutputType(view, *branches.then_body, i));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueType b, OutputType(view, *branches.else_body, i));
    SLIPWAY_ASSIGN_OR_RETURN(ValueType joined,
                             JoinOrRefuse(view, a, b, absl::StrCat("output ", i)));
    types.push_back(std::move(joined));
  }
  return types;
}

// Loop and Scan.

// A carried value's type: what it begins as or what a turn makes of it, where that is known.
absl::StatusOr<ValueType> CarriedType(const NodeView& view, const LoopView& loop, int i) {
  const ValueType& first = view.input_type(loop.first_carried + i);
  const Value& made = loop.body->values[loop.body->outputs[loop.first_made + i]];
  if (!made.type.has_value()) return first;
  return JoinOrRefuse(view, first, *made.type, absl::StrCat("carried value ", i));
}

Dimensions Without(const ValueType& type, int64_t axis) {
  Dimensions dimensions = type.dimensions();
  dimensions.erase(dimensions.begin() + axis);
  return dimensions;
}

absl::StatusOr<std::vector<ValueType>> LoopBodyInputs(const NodeView& view, absl::string_view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
  std::vector<ValueType> types;
  if (!loop.is_scan) types = {TensorType{DataType::kInt64, {}}, TensorType{DataType::kBool, {}}};
  for (int i = 0; i < loop.carried; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(ValueType type, CarriedType(view, loop, i));
    types.push_back(std::move(type));
  }
  for (size_t i = 0; i < loop.scanned.size(); ++i) {
    const ValueType& whole = view.input_type(loop.first_scanned() + static_cast<int>(i));
    types.emplace_back(whole.dtype(), Without(whole, loop.scanned[i].axis));
  }
  for (int i = loop.first_captured(); i < view.num_inputs(); ++i) {
    types.push_back(view.input_type(i));
  }
  return types;
}

// How many turns there are; not known where conditions or values decide.
absl::StatusOr<Dimension> Turns(const NodeView& view, const LoopView& loop) {
  if (!loop.is_scan) {
    const std::optional<int64_t> turns = KnownTurns(view, loop);
    return turns.has_value() ? Dimension(*turns) : Dimension();
  }
  Dimension turns;
  for (size_t i = 0; i < loop.scanned.size(); ++i) {
    const ValueType& whole = view.input_type(loop.first_scanned() + static_cast<int>(i));
    const Dimension extent = whole.dimension(static_cast<int>(loop.scanned[i].axis));
    if (view.Differ(turns, extent)) {
      return view.Error(absl::StrCat("scans ", ToString(turns), " slices of one input and ",
                                     ToString(extent), " of another"));
    }
    turns = MorePrecise(turns, extent);
  }
  return turns;
}

absl::StatusOr<std::vector<ValueType>> LoopType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
  if (!loop.is_scan) {
    SLIPWAY_RETURN_IF_ERROR(
        CheckOneElement(view, view.input_type(0), DataType::kInt64, "the number of turns"));
    SLIPWAY_RETURN_IF_ERROR(
        CheckOneElement(view, view.input_type(1), DataType::kBool, "the condition (input 1)"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueType condition, OutputType(view, *loop.body, 0));
    SLIPWAY_RETURN_IF_ERROR(
        CheckOneElement(view, condition, DataType::kBool, "the body's condition"));
  }
  std::vector<ValueType> types;
  for (int i = 0; i < loop.carried; ++i) {
    SLIPWAY_RETURN_IF_ERROR(OutputType(view, *loop.body, loop.first_made + i).status());
    SLIPWAY_ASSIGN_OR_RETURN(ValueType type, CarriedType(view, loop, i));
    types.push_back(std::move(type));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension turns, Turns(view, loop));
  for (size_t i = 0; i < loop.collected.size(); ++i) {
    const int output = loop.first_made + loop.carried + static_cast<int>(i);
    SLIPWAY_ASSIGN_OR_RETURN(const ValueType slice, OutputType(view, *loop.body, output));
    Dimensions dimensions = slice.dimensions();
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis,
                             NormalizeAxis(view, loop.collected[i].axis, slice.rank() + 1));
    dimensions.insert(dimensions.begin() + axis, turns);
    types.emplace_back(slice.dtype(), dimensions);
  }
  return types;
}

// `outputs` is what the body makes at least.
absl::Status CheckCounts(const NodeView& view, absl::string_view attribute, int inputs,
                         int outputs) {
  const Graph& body = view.Body(attribute);
  if (static_cast<int>(body.inputs.size()) == inputs &&
      static_cast<int>(body.outputs.size()) >= outputs) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("body \"", attribute, "\" has ", body.inputs.size(),
                                 " inputs and ", body.outputs.size(),
                                 " outputs, by the node it must have ", inputs, " and ", outputs));
}

// A Scan's lists of axes and directions, by value: one entry a value or none at all.
absl::StatusOr<std::vector<Slices>> DecodeSlices(const NodeView& view, absl::string_view what,
                                                 int count) {
  std::vector<Slices> slices(count);
  const std::string axes = absl::StrCat("scan_", what, "_axes");
  const std::string directions = absl::StrCat("scan_", what, "_directions");
  for (const std::string& name : {axes, directions}) {
    if (!view.has(name) || static_cast<int>(view.Ints(name).size()) == count) continue;
    return view.Error(absl::StrCat("\"", name, "\" has ", view.Ints(name).size(), " entries for ",
                                   count, " values"));
  }
  for (int i = 0; i < count; ++i) {
    if (view.has(axes)) slices[i].axis = view.Ints(axes)[i];
    if (view.has(directions)) slices[i].reverse = view.Ints(directions)[i] != 0;
  }
  return slices;
}

}  // namespace

absl::StatusOr<IfView> DecodeIf(const NodeView& view) {
  const int captured = view.num_inputs() - 1;
  if (view.Int(kCapturesAttribute) != captured) {
    return view.Error(absl::StrCat("\"", kCapturesAttribute, "\" is ", view.Int(kCapturesAttribute),
                                   ", it must be ", captured));
  }
  for (const char* attribute : {kThenBody, kElseBody}) {
    SLIPWAY_RETURN_IF_ERROR(CheckCounts(view, attribute, captured, view.num_outputs()));
  }
  return IfView{&view.Body(kThenBody), &view.Body(kElseBody)};
}

absl::StatusOr<LoopView> DecodeLoop(const NodeView& view) {
  LoopView loop;
  loop.body = &view.Body(kLoopBody);
  loop.is_scan = view.op() == kScanOperator;
  loop.first_carried = loop.is_scan ? 0 : 2;
  loop.first_made = loop.is_scan ? 0 : 1;
  const int64_t captured = view.Int(kCapturesAttribute);
  const int64_t scanned = loop.is_scan ? view.Int("num_scan_inputs") : 0;
  const int64_t given = view.num_inputs() - loop.first_carried;
  if (scanned < (loop.is_scan ? 1 : 0) || captured < 0 || scanned > given ||
      captured > given - scanned) {
    return view.Error(absl::StrCat("has ", view.num_inputs(), " inputs, ", scanned,
                                   " of them scanned and ", captured, " captured"));
  }
  loop.captured = static_cast<int>(captured);
  loop.carried = static_cast<int>(given - scanned - captured);
  SLIPWAY_RETURN_IF_ERROR(
      CheckCounts(view, kLoopBody, view.num_inputs(),
                  loop.first_made + std::max(loop.carried, view.num_outputs())));
  const int collected =
      static_cast<int>(loop.body->outputs.size()) - loop.first_made - loop.carried;
  loop.scanned.resize(scanned);
  loop.collected.resize(collected);
  if (!loop.is_scan) return loop;
  SLIPWAY_ASSIGN_OR_RETURN(loop.scanned, DecodeSlices(view, "input", static_cast<int>(scanned)));
  SLIPWAY_ASSIGN_OR_RETURN(loop.collected, DecodeSlices(view, "output", collected));
  for (int i = 0; i < static_cast<int>(scanned); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(loop.scanned[i].axis,
                             NormalizeAxis(view, loop.scanned[i].axis,
                                           view.input_type(loop.first_scanned() + i).rank()));
  }
  return loop;
}

std::optional<int64_t> KnownTurns(const NodeView& view, const LoopView& loop) {
  if (loop.is_scan || view.constant(0) == nullptr) return std::nullopt;
  const auto turns = TurnsAtMost(view, *view.constant(0));
  if (!turns.ok()) return std::nullopt;
  const auto is_true = [&view](const Tensor& condition) {
    const auto holds = Holds(view, condition);
    return holds.ok() && *holds;
  };
  if (view.has_input(1) && (view.constant(1) == nullptr || !is_true(*view.constant(1)))) {
    return std::nullopt;
  }
  const Graph& body = *loop.body;
  ValueId goes_on = body.outputs[0];
  for (auto node = body.nodes.rbegin(); node != body.nodes.rend(); ++node) {
    const bool hands_on = node->op == "Identity" && node->outputs[0] == goes_on;
    if (hands_on) goes_on = node->inputs[0];
  }
  const std::optional<Tensor>& constant = body.values[goes_on].constant;
  const bool always = constant.has_value() ? is_true(*constant) : goes_on == body.inputs[1];
  return always ? std::optional<int64_t>(std::max<int64_t>(*turns, 0)) : std::nullopt;
}

absl::StatusOr<int64_t> TurnsAtMost(const NodeView& view, const Tensor& input) {
  SLIPWAY_RETURN_IF_ERROR(
      CheckOneElement(view, input.type(), DataType::kInt64, "the number of turns"));
  return input.values<int64_t>()[0];
}

absl::StatusOr<bool> Holds(const NodeView& view, const Tensor& condition) {
  SLIPWAY_RETURN_IF_ERROR(CheckOneElement(view, condition.type(), DataType::kBool, "a condition"));
  return condition.values<bool>()[0];
}

absl::Status RegisterControlOperators(OperatorRegistry& registry) {
  OperatorSchema branch;
  branch.name = kIfOperator;
  branch.max_inputs = kVariadic;
  branch.min_outputs = 0;
  branch.max_outputs = kVariadic;
  branch.attributes = {{kThenBody, AttributeKind::kGraph, true},
                       {kElseBody, AttributeKind::kGraph, true},
                       IntAttribute(kCapturesAttribute, 0)};
  branch.body_rule = IfBodyInputs;
  branch.type_rule = IfType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(branch));

  OperatorSchema loop;
  loop.name = kLoopOperator;
  loop.min_inputs = 2;
  loop.max_inputs = kVariadic;
  loop.min_outputs = 0;
  loop.max_outputs = kVariadic;
  loop.attributes = {{kLoopBody, AttributeKind::kGraph, true}, IntAttribute(kCapturesAttribute, 0)};
  loop.body_rule = LoopBodyInputs;
  loop.type_rule = LoopType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(loop));

  loop.name = kScanOperator;
  loop.min_inputs = 1;
  for (const char* name :
       {"scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"}) {
    loop.attributes.push_back(IntsAttribute(name));
  }
  loop.attributes.push_back(Required(IntAttribute("num_scan_inputs", std::nullopt)));
  return registry.Add(loop);
}

}  // namespace slipway
