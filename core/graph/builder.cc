#include "core/graph/builder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/verifier.h"

namespace slipway {

GraphBuilder::GraphBuilder(absl::string_view name, const OperatorRegistry& registry)
    : registry_(registry), names_(graph_) {
  graph_.name = std::string(name);
}

Dimension GraphBuilder::Symbol(absl::string_view name, int64_t min, int64_t max) {
  graph_.symbols.push_back({std::string(name), min, max});
  const auto symbol = Expression::Symbol(name);
  status_.Update(symbol.status());
  return symbol.ok() ? Dimension(*symbol) : Dimension();
}

ValueId GraphBuilder::Input(absl::string_view name, DataType dtype,
                            absl::Span<const int64_t> shape) {
  return Input(name, TensorType{dtype, Shape(shape.begin(), shape.end())});
}

ValueId GraphBuilder::Input(absl::string_view name, ValueType type) {
  return graph_.AddInput(names_.Make(name), std::move(type));
}

ValueId GraphBuilder::Constant(absl::string_view name, Tensor tensor) {
  return graph_.AddConstant(names_.Make(name), std::move(tensor));
}

ValueId GraphBuilder::Add(absl::string_view op, std::vector<ValueId> inputs,
                          Attributes attributes) {
  return AddNamed(op, op, std::move(inputs), std::move(attributes));
}

ValueId GraphBuilder::AddNamed(absl::string_view output, absl::string_view op,
                               std::vector<ValueId> inputs, Attributes attributes) {
  return Append(op, std::move(inputs), {std::string(output)}, std::move(attributes))[0];
}

std::vector<ValueId> GraphBuilder::AddMany(absl::string_view op, std::vector<ValueId> inputs,
                                           int num_outputs, Attributes attributes) {
  return Append(op, std::move(inputs), std::vector<std::string>(num_outputs, std::string(op)),
                std::move(attributes));
}

std::vector<ValueId> GraphBuilder::Append(absl::string_view op, std::vector<ValueId> inputs,
                                          const std::vector<std::string>& outputs,
                                          Attributes attributes) {
  Node node{"", std::string(op), std::move(inputs), {}, std::move(attributes)};
  for (const std::string& output : outputs) {
    node.outputs.push_back(graph_.AddValue(names_.Make(output)));
  }
  bool inputs_are_typed = true;
  for (const ValueId id : node.inputs) {
    if (id < kNoValue || id >= static_cast<ValueId>(graph_.values.size())) {
      status_.Update(
          absl::InvalidArgumentError(absl::StrCat("node \"", DisplayName(graph_, node), "\" (", op,
                                                  ") reads value ", id, ", which does not exist")));
      inputs_are_typed = false;
    } else if (id != kNoValue && !graph_.values[id].type.has_value()) {
      inputs_are_typed = false;
    }
  }
  if (inputs_are_typed) {
    auto types = InferNodeTypes(graph_, node, registry_);
    // A type that hangs on a value not known yet stays open.
    if (types.ok()) {
      for (size_t i = 0; i < types->size(); ++i) {
        graph_.values[node.outputs[i]].type = (*types)[i];
      }
    } else if (!absl::IsFailedPrecondition(types.status())) {
      status_.Update(types.status());
    }
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

void GraphBuilder::Output(ValueId value) { graph_.outputs.push_back(value); }

const ValueType* GraphBuilder::type(ValueId value) const {
  const auto& type = graph_.values[value].type;
  return type.has_value() ? &*type : nullptr;
}

absl::StatusOr<Graph> GraphBuilder::Build() && {
  SLIPWAY_RETURN_IF_ERROR(status_);
  SLIPWAY_RETURN_IF_ERROR(Verify(graph_, registry_));
  return std::move(graph_);
}

}  // namespace slipway
