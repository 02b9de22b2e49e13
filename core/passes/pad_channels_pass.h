// PadChannels: images between convolutions get more channels, of zeros, where vectors are full by that.
#ifndef SLIPWAY_CORE_PASSES_PAD_CHANNELS_PASS_H_
#define SLIPWAY_CORE_PASSES_PAD_CHANNELS_PASS_H_

#include <cstdint>
#include <vector>

#include "core/passes/pass.h"

namespace slipway {

// Channels that no vector divides are kept in smaller blocks (AlterLayout), whose kernels fill a part of each vector: 72 of them nine
// blocks of 8, where five of 16 take little more than half of the time. Images of f32 that operators working channel by channel connect get as many
// channels as are a multiple of `vector` where multiply-adds take less time by that, the ones in vain included. All of them must lie
// between convolutions of one group (or depthwise ones) by constant weights: weights and constants are extended by zeros, and nothing else sees
// what is new. Expects CanonicalizeOps; comes before AlterLayout, whose `channel_blocks` these are.
absl::StatusOr<Graph> PadChannels(Graph graph, const PassContext& context,
                                  const std::vector<int64_t>& channel_blocks, int64_t vector);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PAD_CHANNELS_PASS_H_
