// Concats and Splits that need no kernel: the parts of a tensor lie in the whole.
#ifndef SLIPWAY_CORE_PASSES_PLACED_PARTS_H_
#define SLIPWAY_CORE_PASSES_PLACED_PARTS_H_

#include <vector>

#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// By node whether it is
//  - a Split (Movement::kSplit) whose results (and their views) are no graph outputs, or
//  - a Concat (Movement::kConcat) whose inputs (or what they are views of) each are made by a node that is no view and none of
//    these, and are no graph output and no part of another such Concat,
// whose parts are the whole's bytes one after the other, and begin at multiples of the alignment of buffers.
// FuseOps leaves these out of its groups; PlanMemory places them. Types must be known.
std::vector<bool> PlacedParts(const Graph& graph, const OperatorRegistry& registry);

// Where a value lies: in the buffer of another one, so many bytes behind its begin.
struct Place {
  ValueId whole = kNoValue;
  int64_t offset = 0;
};

// By value, with what PlacedParts says: its own begin, but for views and parts.
std::vector<Place> PlacesOf(const Graph& graph, const OperatorRegistry& registry,
                            const std::vector<bool>& placed);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PLACED_PARTS_H_
