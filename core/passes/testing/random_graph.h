// Random small graphs of the operators that image networks are made of.
#ifndef SLIPWAY_CORE_PASSES_TESTING_RANDOM_GRAPH_H_
#define SLIPWAY_CORE_PASSES_TESTING_RANDOM_GRAPH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway::testing {

// The same seed gives the same graph. Has convolutions (plain, grouped, depthwise, strided, dilated,
// padded, channels that blocks divide and that they don't), batch normalizations, elementwise operators
// with constants of several shapes, residual additions, channel Concats, poolings, channel shuffles,
// means and products, values read more than once, several outputs.
absl::StatusOr<Graph> RandomGraph(const OperatorRegistry& registry, uint64_t seed);

}  // namespace slipway::testing

#endif  // SLIPWAY_CORE_PASSES_TESTING_RANDOM_GRAPH_H_
