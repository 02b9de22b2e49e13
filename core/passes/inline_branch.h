// An If whose condition is known is its branch.
#ifndef SLIPWAY_CORE_PASSES_INLINE_BRANCH_H_
#define SLIPWAY_CORE_PASSES_INLINE_BRANCH_H_

#include <optional>
#include <vector>

#include "core/graph/edit.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The nodes that make the node's outputs in its stead, in order, where it is an If with a constant condition. Their other
// values are added to `graph`, whose names `names` has seen. Absent for other nodes, and where the node is not as its type
// rule wants it.
std::optional<std::vector<Node>> InlineKnownBranch(const Node& node,
                                                   const OperatorRegistry& registry, Graph& graph,
                                                   UniqueNames& names);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_INLINE_BRANCH_H_
