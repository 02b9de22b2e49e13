// Which tensors of a graph are to be kept in blocks of channels: the decision of AlterLayout.
#ifndef SLIPWAY_CORE_PASSES_CHANNEL_LAYOUT_H_
#define SLIPWAY_CORE_PASSES_CHANNEL_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

// How a node takes part in blocked layouts.
enum class LayoutRole {
  kPlain,        // Reads and makes plain tensors only.
  kConv,         // Conv with constant weights; decides its two sides apart.
  kDepthwise,    // Conv with one channel a group: same layout on both sides.
  kPool,         // MaxPool, AveragePool.
  kReduction,    // ReduceMean, ReduceMax over H or W that keep the dimensions.
  kElementwise,  // Elementwise and broadcasting operators over rank 4.
  kConcat,       // Concat of tensors of rank 4.
};

// Of a node of the canonical form, all types known.
absl::StatusOr<LayoutRole> LayoutRoleOf(const Graph& graph, const Node& node,
                                        const PassContext& context);

// Per value the block of channels it is best kept in, 0 for plain NCHW. Values that an elementwise
// operator, pooling, depthwise convolution or Concat connects have the same block: the largest of
// `channel_blocks` that divides the channels of all of them, and the channels a group of grouped
// convolutions among their readers and makers. Only values around a convolution are blocked.
absl::StatusOr<std::vector<int64_t>> ChooseChannelBlocks(
    const Graph& graph, const PassContext& context, const std::vector<int64_t>& channel_blocks);

// The largest block that divides `channels`, or 0.
int64_t BlockDividing(int64_t channels, const std::vector<int64_t>& blocks);

// A convolution's input with as few channels, or with channels no block divides, is read as plain NCHW.
inline constexpr int64_t kFewChannels = 4;

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CHANNEL_LAYOUT_H_
