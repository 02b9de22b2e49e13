// Partition: a graph as several, one behind the other: by what a predicate says of nodes, or into stages of like cost.
#ifndef SLIPWAY_CORE_PASSES_PARTITION_H_
#define SLIPWAY_CORE_PASSES_PARTITION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"

namespace slipway {

using NodePredicate = std::function<bool(const Graph&, const Node&)>;
using NodeCost = std::function<double(const Graph&, const Node&)>;

// The part of each node, so that no part reads from a later one: those of even number have the nodes of which the
// predicate is false, those of odd number the others. As few parts as the order of what hangs on what allows; an even
// one may be empty.
std::vector<int> PartsByPredicate(const Graph& graph, const NodePredicate& predicate);

// The nodes in their order, cut into at most `stages` runs so that the most expensive run costs as little as can be
// (bisection over that cost; the cost of a run is the sum of its nodes'). REQUIRES: stages > 0, costs not negative.
std::vector<int> BalancedStages(const Graph& graph, int stages, const NodeCost& cost);

// The parts as graphs of their own, called NAME_0, NAME_1...: an empty part is an empty graph. Inputs are what a part reads
// from before it, outputs what later parts and the graph's outputs read, both by the names that they have in `graph`;
// constants are in every part that reads them. Run one after the other they compute what `graph` does; graph outputs that
// no node makes are of no part. INVALID_ARGUMENT names a node that reads from a later part, or is of none.
absl::StatusOr<std::vector<Graph>> SplitIntoParts(const Graph& graph,
                                                  const std::vector<int>& part_of_node);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PARTITION_H_
