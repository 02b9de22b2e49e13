// EliminateCommonSubexpr: what is computed twice is computed once.
#ifndef SLIPWAY_CORE_PASSES_ELIMINATE_COMMON_SUBEXPR_PASS_H_
#define SLIPWAY_CORE_PASSES_ELIMINATE_COMMON_SUBEXPR_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Constants with the same type and bytes become one; so do nodes with the same operator, inputs and
// attributes. Operators that draw random numbers are left alone.
absl::StatusOr<Graph> EliminateCommonSubexpr(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_ELIMINATE_COMMON_SUBEXPR_PASS_H_
