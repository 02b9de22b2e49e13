// RecognizeGelu: GELU that was written out becomes the operator.
#ifndef SLIPWAY_CORE_PASSES_RECOGNIZE_GELU_PASS_H_
#define SLIPWAY_CORE_PASSES_RECOGNIZE_GELU_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// A product x * (0.5 + 0.5 * f(t)) of f32, however its factors are ordered and its constants spread, becomes Gelu where f is Erf
// and t is x / sqrt(2), or f is Tanh and t is sqrt(2 / pi) * (x + 0.044715 * x^3); constants may be off by what rounding
// them to f32 does. DeadCode drops what nothing else reads. Expects FoldConstant; elements are still those of tensors, not of a product's
// matrix, as CanonicalizeOps has them.
absl::StatusOr<Graph> RecognizeGelu(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_RECOGNIZE_GELU_PASS_H_
