// What a backend makes kernels of.
#ifndef SLIPWAY_CORE_PASSES_IS_LOWERED_H_
#define SLIPWAY_CORE_PASSES_IS_LOWERED_H_

#include <functional>

#include "absl/types/span.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Whether a backend makes a kernel of the node. There is an entry an output of it, unset where it is omitted.
using IsLowered = std::function<bool(const NodeView& node, absl::Span<const ValueType> outputs)>;

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_IS_LOWERED_H_
