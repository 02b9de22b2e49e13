// Which nodes become one kernel: the decision of FuseOps.
#ifndef SLIPWAY_CORE_PASSES_FUSION_GROUPS_H_
#define SLIPWAY_CORE_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// One entry a group: its nodes in topological order, the head first. Groups are in the order of their
// last nodes, every node is in exactly one, but views and PlacedParts, which are in none. UNIMPLEMENTED for an operator
// the registry lacks.
absl::StatusOr<std::vector<std::vector<NodeId>>> ChooseFusionGroups(
    const Graph& graph, const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FUSION_GROUPS_H_
