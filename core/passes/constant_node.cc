#include "core/passes/constant_node.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/status_macros.h"
#include "core/passes/limits.h"

namespace slipway {

bool IsConstantNode(const Graph& graph, const Node& node, const OperatorRegistry& registry) {
  const OperatorSchema* schema = registry.Find(node.op);
  if (schema == nullptr || IsRandom(node, registry)) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    if (id == kNoValue) return true;
    const Value& value = graph.values[id];
    return schema->reads_types_only ? value.type.has_value() && value.type->is_static()
                                    : value.constant.has_value();
  });
}

bool IsDequantizedConstant(const Graph& graph, const Node& node) {
  if (node.op != "DequantizeLinear") return false;
  const std::optional<Tensor>& stored = graph.values[node.inputs[0]].constant;
  return stored.has_value() &&
         (stored->dtype() == DataType::kInt8 || stored->dtype() == DataType::kUint8);
}

std::optional<Tensor> MovedConstant(const Graph& graph, const Node& node,
                                    const PassContext& context) {
  const Movement movement = context.registry.MovementOf(node.op);
  if (movement != Movement::kView && movement != Movement::kPermutation) return std::nullopt;
  if (node.outputs.size() != 1) return std::nullopt;
  const ValueType& type = *graph.values[node.outputs[0]].type;
  const Tensor& from = *graph.values[node.inputs[0]].constant;
  if (!type.is_static() || from.dtype() != type.dtype() || from.byte_size() != type.byte_size()) {
    return std::nullopt;
  }
  if (movement == Movement::kView) return from.Reshaped(type.shape()).value();
  if (from.byte_size() < kLargeConstantBytes || !context.reference.Supports(node.op)) {
    return std::nullopt;
  }
  // The node in a graph of its own, with no more than it needs.
  Graph alone;
  Node moved = node;
  moved.name = DisplayName(graph, node);
  moved.inputs = {alone.AddConstant("from", from)};
  moved.outputs = {alone.AddValue("to", type)};
  const Reference* reference = &context.reference;
  return Tensor::Deferred(
      type.tensor(), [alone = std::move(alone), moved, reference]() -> absl::StatusOr<Tensor> {
        const std::vector<Tensor> inputs = {alone.values[moved.inputs[0]].constant->Loaded()};
        SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> made,
                                 reference->EvaluateNode(alone, moved, inputs));
        return made[0];
      });
}

absl::StatusOr<std::vector<Tensor>> EvaluateConstantNode(const Graph& graph, const Node& node,
                                                         const PassContext& context,
                                                         int64_t& work_left) {
  std::vector<Tensor> inputs;
  for (const ValueId id : node.inputs) {
    const bool known = id != kNoValue && graph.values[id].constant.has_value();
    inputs.push_back(known ? graph.values[id].constant->Loaded() : Tensor());
  }
  return context.reference.EvaluateNode(graph, node, inputs, work_left);
}

bool IsLeftToRunTime(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsResourceExhausted(status);
}

void MakeOutputsConstant(const Node& node, std::vector<Tensor> results, Graph& graph) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& value = graph.values[node.outputs[i]];
    ValueType type = results[i].type();
    if (value.type.has_value()) type.set_quantization(value.type->quantization());
    value.type = std::move(type);
    value.constant = std::move(results[i]);
  }
}

}  // namespace slipway
