// Between which numbers a tensor of integers lies, as far as what makes it says so. Private to NarrowProducts.
#ifndef SLIPWAY_CORE_PASSES_INT16_RANGE_H_
#define SLIPWAY_CORE_PASSES_INT16_RANGE_H_

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace slipway {

struct Int16Range {
  int least = 0;
  int largest = 0;
};

// Of a value of i16: from Clips by constants, bytes, constants added and subtracted, and what moves such elements around or takes
// the largest of them. Absent where that does not tell. `producers` are Producers(graph).
std::optional<Int16Range> RangeOf(const Graph& graph, const std::vector<NodeId>& producers,
                                  ValueId id);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_INT16_RANGE_H_
