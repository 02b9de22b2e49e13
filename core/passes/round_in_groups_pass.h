// RoundInGroups: codes that only their own kernel reads, as the numbers that they stand for.
#ifndef SLIPWAY_CORE_PASSES_ROUND_IN_GROUPS_PASS_H_
#define SLIPWAY_CORE_PASSES_ROUND_IN_GROUPS_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// In the bodies of slipway.Fused, a DequantizeLinear of what a QuantizeLinear with the same zero point makes there becomes Round, Clip and Mul of
// what that reads: the same numbers, but that NaN stays NaN, without becoming bytes and f32 again in between. One scale and one zero
// point for all, constants. Expects FuseOps: what lies in memory between kernels is better bytes.
absl::StatusOr<Graph> RoundInGroups(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_ROUND_IN_GROUPS_PASS_H_
