// slipway.Fused: a group of nodes that becomes one kernel. Its attribute `body` is a typed graph whose
// inputs and outputs match the node's in number, order and type; constants of the body stay inside.
#ifndef SLIPWAY_CORE_OPERATORS_FUSED_H_
#define SLIPWAY_CORE_OPERATORS_FUSED_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

inline constexpr char kFusedOperator[] = "slipway.Fused";
inline constexpr char kFusedBody[] = "body";

absl::Status RegisterFusedOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_FUSED_H_
