// What a node costs, roughly: to compare nodes with each other, not to foretell times.
#ifndef SLIPWAY_CORE_PASSES_NODE_COST_H_
#define SLIPWAY_CORE_PASSES_NODE_COST_H_

#include <cstdint>

#include "core/graph/graph.h"

namespace slipway {

// Multiplications and additions: two for each product that a convolution or matrix product sums, else one an element of
// the largest input or output. REQUIRES: types are known and static.
double NodeFlops(const Graph& graph, const Node& node);

// Bytes of the node's outputs. REQUIRES: as above.
int64_t OutputBytes(const Graph& graph, const Node& node);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_NODE_COST_H_
