// Operators that give the same elements another shape: Reshape, Flatten, Squeeze, Unsqueeze; and
// Shape, which makes the shape a tensor. Their outputs lie where their input lies, row by row.
#ifndef SLIPWAY_CORE_OPERATORS_RESHAPING_H_
#define SLIPWAY_CORE_OPERATORS_RESHAPING_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// What a Shape node makes: the extents from `start` up to `end` of its input's type. UNIMPLEMENTED
// where one of them is open.
absl::StatusOr<std::vector<int64_t>> DecodeShape(const NodeView& view);

absl::Status RegisterReshapingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_RESHAPING_H_
