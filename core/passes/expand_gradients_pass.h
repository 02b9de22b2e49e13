// ExpandGradients: nodes that are gradients of others become the nodes that compute them.
#ifndef SLIPWAY_CORE_PASSES_EXPAND_GRADIENTS_PASS_H_
#define SLIPWAY_CORE_PASSES_EXPAND_GRADIENTS_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Puts for every slipway.Gradient (core/operators/training.h) the way forward through its body and the way back, by
// StandardGradients. What is computed beside it already is computed twice until EliminateCommonSubexpr. Errors of Gradient
// (gradient_pass.h) name the node; RESOURCE_EXHAUSTED past kMaxDerivedNodes (limits.h).
absl::StatusOr<Graph> ExpandGradients(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_EXPAND_GRADIENTS_PASS_H_
