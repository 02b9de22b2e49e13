// Work: how much the reference has to do for a node, before it does it.
#ifndef SLIPWAY_CORE_REFERENCE_WORK_H_
#define SLIPWAY_CORE_REFERENCE_WORK_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/graph/operator_registry.h"
#include "core/graph/value_type.h"

namespace slipway {

// Work that is more than can be counted, or of which nobody knows how much it is.
inline constexpr int64_t kBoundlessWork = INT64_MAX;

// Elements that the reference's kernel of the node's operator visits, each as often as it does: multiplications of products,
// what windows hold, comparisons; a nanosecond each, or a few. Never less than in truth by more than a constant: of an operator
// of which nothing else is known, each element made visits each element read. Where bodies are evaluated their nodes work, and
// this is what it takes to begin. `outputs` are the types of what it makes, or none where they are not known yet; for extents
// that are open the inputs' elements stand.
int64_t WorkOf(const NodeView& view, absl::Span<const ValueType> outputs);

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_WORK_H_
