#include "core/passes/constant_node.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "core/base/status_macros.h"
#include "core/operators/reshaping.h"

namespace slipway {

bool IsRandom(const Node& node) {
  return absl::StartsWith(node.op, "Random") || node.op == "Bernoulli" || node.op == "Multinomial";
}

bool IsConstantNode(const Graph& graph, const Node& node) {
  if (node.op == "Shape") return graph.values[node.inputs[0]].type.has_value();
  return !IsRandom(node) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), [&graph](ValueId id) {
           return id == kNoValue || graph.values[id].constant.has_value();
         });
}

absl::StatusOr<std::vector<Tensor>> EvaluateConstantNode(const Graph& graph, const Node& node,
                                                         const PassContext& context) {
  if (node.op == "Shape") {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, context.registry));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, DecodeShape(view));
    return std::vector<Tensor>{
        Tensor::Of<int64_t>({static_cast<int64_t>(extents.size())}, extents)};
  }
  std::vector<Tensor> inputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(id == kNoValue ? Tensor() : *graph.values[id].constant);
  }
  return context.reference.EvaluateNode(graph, node, inputs);
}

void MakeOutputsConstant(const Node& node, std::vector<Tensor> results, Graph& graph) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& value = graph.values[node.outputs[i]];
    value.type = results[i].type();
    value.constant = std::move(results[i]);
  }
}

}  // namespace slipway
