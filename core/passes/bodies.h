// The ordinary bodies of nodes (OperatorSchema::body_rule), as passes change them.
#ifndef SLIPWAY_CORE_PASSES_BODIES_H_
#define SLIPWAY_CORE_PASSES_BODIES_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

using BodyRewrite = std::function<absl::StatusOr<Graph>(Graph body)>;

// Puts what `rewrite` makes of each ordinary body of the graph's nodes in the body's place. Errors of
// `rewrite`, with node and body in front. Bodies are shared values: those of other graphs stay as they are.
absl::Status RewriteBodies(Graph& graph, const OperatorRegistry& registry,
                           const BodyRewrite& rewrite);

// The same for one node. `rewrite` is told which body it is given.
absl::Status RewriteBodiesOf(
    const Graph& graph, Node& node, const OperatorRegistry& registry,
    const std::function<absl::StatusOr<Graph>(const std::string& attribute, Graph body)>& rewrite);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_BODIES_H_
