// Layout changes: slipway.Pack [N, C, H, W] -> [N, C/block, H, W, block], slipway.Unpack back.
// C % block must be 0.
#ifndef SLIPWAY_CORE_OPERATORS_LAYOUT_H_
#define SLIPWAY_CORE_OPERATORS_LAYOUT_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

absl::Status RegisterLayoutOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_LAYOUT_H_
