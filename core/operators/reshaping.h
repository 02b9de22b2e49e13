// Operators that give the same elements another shape: Reshape, Flatten, Squeeze, Unsqueeze; and
// Shape and Size, which make the shape and the number of elements a tensor. Their outputs lie where their input lies, row by row.
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

// What a Size node makes: the number of its input's elements. UNIMPLEMENTED where it is open.
absl::StatusOr<int64_t> DecodeSize(const NodeView& view);

absl::Status RegisterReshapingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_RESHAPING_H_
