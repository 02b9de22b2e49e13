// FoldPad: zeros around an image as the padding of the convolution that reads it.
#ifndef SLIPWAY_CORE_PASSES_FOLD_PAD_PASS_H_
#define SLIPWAY_CORE_PASSES_FOLD_PAD_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// A Conv of explicit pads reads what is before a Pad that puts zeros around the spatial dimensions alone, as many as are known, and adds
// them to its own. DeadCode drops a Pad that nothing else reads. Expects FoldConstant.
absl::StatusOr<Graph> FoldPad(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FOLD_PAD_PASS_H_
