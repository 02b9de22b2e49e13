// What a node costs: how much it computes (core/operators/products.h), and how much it reads and writes. Facts of the graph,
// whatever computes it.
#ifndef SLIPWAY_CORE_PASSES_NODE_COST_H_
#define SLIPWAY_CORE_PASSES_NODE_COST_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Multiplications and additions of products, as the model's operators have them (so that a convolution by Winograd's tiles
// counts what a direct one does). A slipway.Fused or slipway.Call node has those of its body, other bodies count nothing.
// UNIMPLEMENTED where extents that count are open. REQUIRES: types are known.
absl::StatusOr<int64_t> ProductFlops(const Graph& graph, const Node& node,
                                     const OperatorRegistry& registry);

// The type of the first operand of the first product among them; kInvalid where there is none.
DataType ProductType(const Graph& graph, const Node& node);

// The flops, and where it is less, an element of the largest input or output: to compare nodes with each other, not to
// foretell times. 0 where extents are open. REQUIRES: types are known.
double NodeFlops(const Graph& graph, const Node& node, const OperatorRegistry& registry);

// Bytes of the node's outputs. REQUIRES: types are known and static.
int64_t OutputBytes(const Graph& graph, const Node& node);

// What goes between a node and memory if nothing goes twice.
struct NodeTraffic {
  int64_t bytes = 0;           // Each input read once, each output written once.
  int64_t constant_bytes = 0;  // Of them: of constants of the graph.
};

// Of an input that is only picked from (Gather's table) what is picked counts. UNIMPLEMENTED where extents are open.
// REQUIRES: types are known.
absl::StatusOr<NodeTraffic> TrafficOf(const Graph& graph, const Node& node);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_NODE_COST_H_
