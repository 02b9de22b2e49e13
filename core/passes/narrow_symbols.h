// What windows say of free extents: one that does not fit is refused, so sizes at which it would not are none of the graph's.
#ifndef SLIPWAY_CORE_PASSES_NARROW_SYMBOLS_H_
#define SLIPWAY_CORE_PASSES_NARROW_SYMBOLS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/symbolic/evaluation.h"

namespace slipway {

// Raises the least values of `symbols`, which are some of those of `graph`, to where the windows of its nodes (LayoutRole)
// may have a place. `graph` has its types; bodies, which may never run, say nothing. Whether any was raised.
// INVALID_ARGUMENT names a node whose window fits at no size.
absl::StatusOr<bool> NarrowSymbols(const Graph& graph, const OperatorRegistry& registry,
                                   std::vector<Symbol>& symbols);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_NARROW_SYMBOLS_H_
