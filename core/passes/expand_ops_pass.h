// ExpandOps: operators that a backend has no kernel generator for as operators that it has.
#ifndef SLIPWAY_CORE_PASSES_EXPAND_OPS_PASS_H_
#define SLIPWAY_CORE_PASSES_EXPAND_OPS_PASS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/is_lowered.h"
#include "core/passes/pass.h"

namespace slipway {

// A pass (pass.h) for canonical graphs, which stay canonical. Of nodes that `is_lowered` is false of:
//  - an Attention of f32 without windows, capped or shown scores and padding becomes products and a Softmax, heads that
//    share keys side by side in one product; one that is causal does so where its extents are known;
//  - a ConvTranspose of f32 by constant weights over one or two dimensions becomes convolutions that make, for each place
//    of its input, the block of outputs that begins there, and a Transpose that puts the blocks beside each other (Shi et al.
//    2016, "Is the deconvolution layer the same as a convolutional layer?");
//  - a recurrent network of f32 becomes one product of its input over all steps, of both directions, and the steps, whose
//    weights lie in panels (core/operators/recurrent.h). What lays weights out are nodes, which FoldConstant evaluates where the
//    weights are constants.
// Others stay as they are.
absl::StatusOr<Graph> ExpandOps(Graph graph, const PassContext& context,
                                const IsLowered& is_lowered);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_EXPAND_OPS_PASS_H_
