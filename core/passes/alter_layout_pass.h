// AlterLayout: keeps tensors in blocks of channels (NCHWc) around convolutions, and packs weights.
#ifndef SLIPWAY_CORE_PASSES_ALTER_LAYOUT_PASS_H_
#define SLIPWAY_CORE_PASSES_ALTER_LAYOUT_PASS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "core/operators/convolution.h"
#include "core/passes/pass.h"

namespace slipway {

// Convolutions, pools, elementwise operators, means over space, normalizations by channels, Concats and what cuts out, resizes and pads become their blocked
// forms where ChooseChannelBlocks says so (channel_layout.h), with weights and constants repacked.
// slipway.Pack and slipway.Unpack stand where layouts change, at most once a value; where height and
// width are 1 the two layouts are the same bytes and a Reshape does. Everything else stays NCHW, and so
// do the graph's inputs and outputs. Expects CanonicalizeOps.
// A convolution of one group whose channels no block divides is made with more, in the fewest blocks, and its own are cut out of them.
// `channel_blocks` are the blocks worth trying, largest first. What a convolution of f32 over kFewChannels or less reads is a
// block, some of its channels perhaps zeros, where `packs_few` says so, and a plain image elsewhere.
absl::StatusOr<Graph> AlterLayout(Graph graph, const PassContext& context,
                                  const std::vector<int64_t>& channel_blocks,
                                  const std::function<bool(const ConvView&)>& packs_few = nullptr);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_ALTER_LAYOUT_PASS_H_
