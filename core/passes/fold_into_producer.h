// A scale and a shift a channel, taken into the weights of the convolution or product before them.
#ifndef SLIPWAY_CORE_PASSES_FOLD_INTO_PRODUCER_H_
#define SLIPWAY_CORE_PASSES_FOLD_INTO_PRODUCER_H_

#include <vector>

#include "core/passes/graph_rewriter.h"

namespace slipway {

// y = x * scale[c] + shift[c] for channel c of x.
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
};

// Whether all entries are finite. What is not must be computed as the model says: 0 * infinity is not
// what x / 0 is.
bool IsFinite(const ChannelAffine& affine);

// Whether x * scale + shift can become x: x is made by a Conv or (canonical) Gemm with constant
// weights, f32, and only the node under consideration reads it.
bool CanFoldIntoProducer(GraphRewriter& rewriter, ValueId x);

// Changes weights and bias of x's producer, in new constants since others may read the old ones. The
// products are rounded once, from double. REQUIRES: CanFoldIntoProducer, and as many entries as x has
// channels.
void FoldIntoProducer(GraphRewriter& rewriter, ValueId x, const ChannelAffine& affine);

// The number of channels of what a Conv or Gemm makes.
int64_t ProducerChannels(GraphRewriter& rewriter, ValueId x);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FOLD_INTO_PRODUCER_H_
