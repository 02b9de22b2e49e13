#include "core/passes/constant_node.h"

#include <algorithm>
#include <utility>

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

absl::StatusOr<std::vector<Tensor>> EvaluateConstantNode(const Graph& graph, const Node& node,
                                                         const PassContext& context) {
  std::vector<Tensor> inputs;
  for (const ValueId id : node.inputs) {
    const bool known = id != kNoValue && graph.values[id].constant.has_value();
    inputs.push_back(known ? *graph.values[id].constant : Tensor());
  }
  return context.reference.EvaluateNode(graph, node, inputs);
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
