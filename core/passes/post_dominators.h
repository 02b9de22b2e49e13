// Post-dominators of a graph's nodes: through which node everything flows that a node makes.
#ifndef SLIPWAY_CORE_PASSES_POST_DOMINATORS_H_
#define SLIPWAY_CORE_PASSES_POST_DOMINATORS_H_

#include <vector>

#include "core/graph/graph.h"

namespace slipway {

// By node the nearest one that lies on every path from it to a graph output; kNoNode where there is
// none (the node makes a graph output itself, or its paths part for good). REQUIRES: topological order.
std::vector<NodeId> ImmediatePostDominators(const Graph& graph);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_POST_DOMINATORS_H_
