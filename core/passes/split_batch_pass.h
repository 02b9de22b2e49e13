// SplitBatch: images one after the other through as many nodes as their tensors stay in a cache.
#ifndef SLIPWAY_CORE_PASSES_SPLIT_BATCH_PASS_H_
#define SLIPWAY_CORE_PASSES_SPLIT_BATCH_PASS_H_

#include <cstdint>

#include "core/passes/pass.h"

namespace slipway {

// Neighbouring nodes that keep images apart (image_inputs.h), where what a batch's tensors take of a cache of so many bytes costs more
// than reading weights again for each image does, are done for one image after the other: a Split before
// them, a Concat behind them, which need no kernels (placed_parts.h), and a copy of each node an image, which share kernels. What
// lies between them is as large as for one image. The idea is that of fused layers (Alwani et al., "Fused-Layer CNN Accelerators",
// MICRO 2016) along the one dimension where nothing is computed twice. Expects packed weights, and comes before FuseOps.
absl::StatusOr<Graph> SplitBatch(Graph graph, const PassContext& context, int64_t cache_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_SPLIT_BATCH_PASS_H_
