#include "core/passes/complete_outputs_pass.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/control.h"
#include "core/passes/open_extents.h"

namespace slipway {
namespace {

// How many outputs the node's bodies make of what the node may list.
absl::StatusOr<size_t> OutputsOf(const NodeView& view) {
  if (view.op() == kIfOperator) {
    SLIPWAY_ASSIGN_OR_RETURN(const IfView branches, DecodeIf(view));
    return branches.then_body->outputs.size();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
  return loop.carried + loop.collected.size();
}

}  // namespace

absl::StatusOr<Graph> CompleteOutputs(Graph graph, const PassContext& context) {
  UniqueNames names(graph);
  for (Node& node : graph.nodes) {
    if (node.op != kIfOperator && node.op != kLoopOperator && node.op != kScanOperator) continue;
    {
      SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                               NodeView::Create(graph, node, context.registry));
      SLIPWAY_ASSIGN_OR_RETURN(const size_t outputs, OutputsOf(view));
      node.outputs.resize(outputs, kNoValue);
    }
    std::vector<size_t> added;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) continue;
      node.outputs[i] =
          graph.AddValue(names.Make(absl::StrCat(DisplayName(graph, node), " unread ", i)));
      added.push_back(i);
    }
    if (added.empty()) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<ValueType> types,
                             InferNodeTypes(graph, node, context.registry));
    const std::vector<Symbol> around = graph.symbols;
    for (const size_t i : added) {
      Value& value = graph.values[node.outputs[i]];
      value.type =
          WithNamedExtents(value.name, WithoutOtherSymbols(types[i], around), graph.symbols);
    }
  }
  return graph;
}

}  // namespace slipway
