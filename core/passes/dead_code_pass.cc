#include "core/passes/dead_code_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/graph/edit.h"
#include "core/passes/captures.h"

namespace slipway {
namespace {

// Outputs are marked as omitted; trailing ones are cut off, unless their number means something.
void OmitDeadOutputs(Node& node, const std::vector<bool>& alive, const OperatorSchema& schema) {
  const int min_outputs = schema.min_outputs;
  for (size_t i = min_outputs; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue && !alive[node.outputs[i]]) node.outputs[i] = kNoValue;
  }
  if (schema.max_outputs == kVariadic) return;
  while (static_cast<int>(node.outputs.size()) > min_outputs && node.outputs.back() == kNoValue) {
    node.outputs.pop_back();
  }
}

}  // namespace

absl::StatusOr<Graph> DeadCode(Graph graph, const PassContext& context) {
  std::vector<bool> alive = OutputFlags(graph);
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool needed = std::any_of(node->outputs.begin(), node->outputs.end(),
                                    [&](ValueId id) { return id != kNoValue && alive[id]; });
    if (!needed) continue;
    DropUnreadCaptures(*node);
    for (const ValueId id : node->inputs) {
      if (id != kNoValue) alive[id] = true;
    }
    if (const OperatorSchema* schema = context.registry.Find(node->op)) {
      OmitDeadOutputs(*node, alive, *schema);
    }
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  DropUnusedValues(graph);
  return graph;
}

}  // namespace slipway
