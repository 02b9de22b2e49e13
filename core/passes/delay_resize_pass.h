// DelayResize: images are made larger behind the convolution of single places that reads them.
#ifndef SLIPWAY_CORE_PASSES_DELAY_RESIZE_PASS_H_
#define SLIPWAY_CORE_PASSES_DELAY_RESIZE_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Both are linear, one in places, the other in channels: Conv(Resize(x)) with a kernel of 1 x 1 is Resize(Conv(x)), which has fewer places
// to multiply. The same for what is joined with others by a Concat of channels: its part of the weights makes a Conv of its own, and results
// are added. Where that takes fewer operations, weights are constants, extents are known and nothing else reads the larger image. Sums are
// rounded in another order. Expects CanonicalizeOps.
absl::StatusOr<Graph> DelayResize(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_DELAY_RESIZE_PASS_H_
