#include "core/passes/bodies.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::Status RewriteBodiesOf(
    const Graph& graph, Node& node, const OperatorRegistry& registry,
    const std::function<absl::StatusOr<Graph>(const std::string& attribute, Graph body)>& rewrite) {
  const OperatorSchema* schema = registry.Find(node.op);
  if (schema == nullptr || schema->body_rule == nullptr) return absl::OkStatus();
  const Attributes before = node.attributes;
  for (const auto& [name, value] : before) {
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
    if (body == nullptr) continue;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Graph rewritten, rewrite(name, **body),
                                  absl::StrCat("node \"", DisplayName(graph, node), "\" (", node.op,
                                               ") body \"", name, "\""));
    node.attributes.Set(name, std::make_shared<const Graph>(std::move(rewritten)));
  }
  return absl::OkStatus();
}

absl::Status RewriteBodies(Graph& graph, const OperatorRegistry& registry,
                           const BodyRewrite& rewrite) {
  for (Node& node : graph.nodes) {
    SLIPWAY_RETURN_IF_ERROR(RewriteBodiesOf(
        graph, node, registry,
        [&rewrite](const std::string&, Graph body) { return rewrite(std::move(body)); }));
  }
  return absl::OkStatus();
}

}  // namespace slipway
