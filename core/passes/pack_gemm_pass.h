// PackGemm: constant matrices in the panels that matrix kernels read.
#ifndef SLIPWAY_CORE_PASSES_PACK_GEMM_PASS_H_
#define SLIPWAY_CORE_PASSES_PACK_GEMM_PASS_H_

#include <cstdint>

#include "core/passes/pass.h"

namespace slipway {

// Gemm of the canonical form by constant f32 weights becomes slipway.GemmPacked, in panels of so many
// columns; so does slipway.IntegerGemm of an even depth.
absl::StatusOr<Graph> PackGemm(Graph graph, const PassContext& context, int64_t panel_columns);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PACK_GEMM_PASS_H_
