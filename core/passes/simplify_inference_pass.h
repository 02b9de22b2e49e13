// SimplifyInference: takes apart what training left behind.
#ifndef SLIPWAY_CORE_PASSES_SIMPLIFY_INFERENCE_PASS_H_
#define SLIPWAY_CORE_PASSES_SIMPLIFY_INFERENCE_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// BatchNormalization with constant statistics becomes part of the Conv or Gemm before it, where that
// is read by nothing else, and a Mul and an Add a channel otherwise. Expects CanonicalizeOps.
absl::StatusOr<Graph> SimplifyInference(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_SIMPLIFY_INFERENCE_PASS_H_
