// What a graph's nodes say of its free extents: sizes that they would refuse are none of the graph's.
#ifndef SLIPWAY_CORE_PASSES_NARROW_SYMBOLS_H_
#define SLIPWAY_CORE_PASSES_NARROW_SYMBOLS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/symbolic/evaluation.h"

namespace slipway {

// The symbols of the graph, with bounds within which the windows of its nodes (LayoutRole) may have a place and the only
// equality of a constraint may hold. `graph` has its types; bodies, which may never run, say nothing. INVALID_ARGUMENT names
// a node whose window fits at no size, or whose constraint never holds.
absl::StatusOr<std::vector<Symbol>> NarrowedSymbols(const Graph& graph,
                                                    const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_NARROW_SYMBOLS_H_
