#include "core/passes/inline_branch.h"

#include <utility>

#include "absl/types/span.h"
#include "core/operators/control.h"
#include "core/passes/inline_body.h"

namespace slipway {
std::optional<std::vector<Node>> InlineKnownBranch(const Node& node,
                                                   const OperatorRegistry& registry, Graph& graph,
                                                   UniqueNames& names) {
  if (node.op != kIfOperator || node.inputs.empty() || node.inputs[0] == kNoValue) {
    return std::nullopt;
  }
  if (!graph.values[node.inputs[0]].constant.has_value()) return std::nullopt;
  const auto view = NodeView::Create(graph, node, registry);
  if (!view.ok()) return std::nullopt;
  const auto branches = DecodeIf(*view);
  const auto holds = Holds(*view, *view->constant(0));
  if (!branches.ok() || !holds.ok()) return std::nullopt;
  return InlineBody(*holds ? *branches->then_body : *branches->else_body,
                    absl::MakeConstSpan(node.inputs).subspan(1), node.outputs, graph, names);
}

}  // namespace slipway
