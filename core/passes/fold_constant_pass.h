// FoldConstant: computes at compile time what depends on constants alone.
#ifndef SLIPWAY_CORE_PASSES_FOLD_CONSTANT_PASS_H_
#define SLIPWAY_CORE_PASSES_FOLD_CONSTANT_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Evaluates with core/reference. What no output depends on is not evaluated, and constants made in
// one call take at most kMaxFoldedBytes together, and kMaxFoldedWork to compute, one of them kMaxFoldWork (limits.h): nodes
// past that stay, and are noted. Random operators stay too, and what the reference has no kernel for.
absl::StatusOr<Graph> FoldConstant(Graph graph, const PassContext& context);

// The same, but for DequantizeLinear of 8 bits: weights that FoldQuantization looks for.
absl::StatusOr<Graph> FoldConstantButQuantized(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FOLD_CONSTANT_PASS_H_
