// Concats that need no kernel: their inputs are made where the result has them.
#ifndef SLIPWAY_CORE_PASSES_PLACED_CONCATS_H_
#define SLIPWAY_CORE_PASSES_PLACED_CONCATS_H_

#include <vector>

#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// By value the one at the beginning of its chain of views (Movement::kView), which is where it lies.
std::vector<ValueId> ViewRoots(const Graph& graph, const OperatorRegistry& registry);

// By node whether it is a Concat (Movement::kConcat) whose result is its inputs' bytes one after the other, and whose inputs
// (or what they are views of) each
//  - are made by a node that is no view and no such Concat,
//  - are no graph output and no part of another such Concat, and
//  - begin at multiples of the alignment of buffers.
// FuseOps leaves these out of its groups; PlanMemory places them. Types must be known.
std::vector<bool> PlacedConcats(const Graph& graph, const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PLACED_CONCATS_H_
