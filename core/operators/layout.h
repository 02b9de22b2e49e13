// Layout changes: slipway.Pack [N, C, H, W] -> [N, C/block, H, W, block], slipway.Unpack back.
// Where block does not divide C, which is known then, Pack has zeros behind the last channel: [N, ceil(C/block), H, W, block].
#ifndef SLIPWAY_CORE_OPERATORS_LAYOUT_H_
#define SLIPWAY_CORE_OPERATORS_LAYOUT_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

absl::Status RegisterLayoutOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_LAYOUT_H_
