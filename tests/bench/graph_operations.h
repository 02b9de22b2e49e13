// How many floating-point operations a graph's products are.
#ifndef SLIPWAY_TESTS_BENCH_GRAPH_OPERATIONS_H_
#define SLIPWAY_TESTS_BENCH_GRAPH_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway::bench {

// Convolutions, matrix products and recurrent layers count two for each multiply-add, all else nothing; a slipway.Fused
// node is the sum of its body. REQUIRES: all types are known, and extents of what is counted are.
absl::StatusOr<int64_t> CountOperations(const Graph& graph, const Node& node,
                                        const OperatorRegistry& registry);

// One number for each kernel (slipway.Fused, slipway.Call), in order: the steps of the program it becomes.
absl::StatusOr<std::vector<int64_t>> OperationsOfSteps(const Graph& graph,
                                                       const OperatorRegistry& registry);

}  // namespace slipway::bench

#endif  // SLIPWAY_TESTS_BENCH_GRAPH_OPERATIONS_H_
