// Operators that give the same elements another shape: Reshape, Flatten, Squeeze, Unsqueeze; and
// Shape and Size, which make the shape and the number of elements a tensor. The outputs of the others lie where their input
// lies, row by row. slipway.View is a Reshape to open extents, which its output's type states (`rank` of them).
#ifndef SLIPWAY_CORE_OPERATORS_RESHAPING_H_
#define SLIPWAY_CORE_OPERATORS_RESHAPING_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// A Shape node makes the extents of its input's dimensions [begin, end).
struct ShapeView {
  int64_t begin = 0;
  int64_t end = 0;
};
ShapeView DecodeShape(const NodeView& view);

// These extents.
Dimensions OpenShape(const NodeView& view);

// Its input, as a value that no pass takes for it: what is computed of it is computed again, though it has been computed of
// the input already (core/passes/recompute_pass.h).
inline constexpr char kAgainOperator[] = "slipway.Again";

absl::Status RegisterReshapingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_RESHAPING_H_
