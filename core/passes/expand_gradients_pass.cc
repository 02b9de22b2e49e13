#include "core/passes/expand_gradients_pass.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/training.h"
#include "core/passes/gradient_pass.h"
#include "core/passes/gradients/register_all.h"
#include "core/passes/inline_body.h"
#include "core/passes/limits.h"

namespace slipway {
namespace {

bool IsGradient(const Node& node) { return node.op == kGradientOperator; }

// From the body's inputs to the gradients by the first of them.
absl::StatusOr<Graph> WayBack(const Node& node, const GradientColumn& rules,
                              const PassContext& context) {
  Graph body = **node.attributes.FindAs<std::shared_ptr<const Graph>>(kGradientBody);
  GradientOptions options;
  const int64_t derived = *node.attributes.FindAs<int64_t>(kDerivedInputs);
  for (int64_t i = 0; i < derived; ++i) {
    options.with_respect_to.push_back(body.values[body.inputs[i]].name);
  }
  SLIPWAY_ASSIGN_OR_RETURN(body, Gradient(std::move(body), options, rules, context));
  body.outputs.erase(body.outputs.begin());
  return body;
}

}  // namespace

absl::StatusOr<Graph> ExpandGradients(Graph graph, const PassContext& context) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), IsGradient)) return graph;
  const GradientColumn rules = StandardGradients();
  UniqueNames names(graph);
  std::vector<Node> nodes;
  for (Node& node : std::exchange(graph.nodes, {})) {
    if (!IsGradient(node)) {
      nodes.push_back(std::move(node));
      continue;
    }
    const std::string name =
        absl::StrCat("node \"", DisplayName(graph, node), "\" (", node.op, ")");
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Graph back, WayBack(node, rules, context), name);
    if (nodes.size() + back.nodes.size() > kMaxDerivedNodes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(name, ": with it the gradients become ", nodes.size() + back.nodes.size(),
                       " nodes, more than the limit of ", kMaxDerivedNodes));
    }
    for (Node& made : InlineBody(back, node.inputs, node.outputs, graph, names)) {
      nodes.push_back(std::move(made));
    }
  }
  graph.nodes = std::move(nodes);
  return graph;
}

}  // namespace slipway
