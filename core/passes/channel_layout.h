// Which tensors of a graph are to be kept in blocks of channels: the decision of AlterLayout.
#ifndef SLIPWAY_CORE_PASSES_CHANNEL_LAYOUT_H_
#define SLIPWAY_CORE_PASSES_CHANNEL_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/operators/convolution.h"
#include "core/passes/pass.h"

namespace slipway {

// The role of its operator for a node of the canonical form whose types, attributes and constant weights
// allow to play it, else kPlain. All types are known.
LayoutRole LayoutRoleOf(const Graph& graph, const Node& node, const OperatorRegistry& registry);

// Of a node of role kConvolution whether it has one channel a group: the same layout on both sides.
bool IsDepthwise(const ConvView& convolution);

// Per value the block of channels it is best kept in, 0 for plain NCHW. Values that an elementwise
// operator, a window, a reduction, a normalization, a depthwise convolution, a Resize or a Pad connects have the same block: the
// largest of `channel_blocks` (of which the first is the largest) that divides the channels of all of them, and the channels a
// group of grouped convolutions among their readers and makers. So have those that a Concat connects where there is such a block,
// and those of a Slice or Split where it is not less than what they would have had without. Only values around a convolution are blocked.
absl::StatusOr<std::vector<int64_t>> ChooseChannelBlocks(
    const Graph& graph, const PassContext& context, const std::vector<int64_t>& channel_blocks);

// The largest block that divides `channels`, or 0.
int64_t BlockDividing(int64_t channels, const std::vector<int64_t>& blocks);

// The block of which the fewest cover `channels`, some of the last one perhaps by nothing; of several the smallest.
int64_t BlockCovering(int64_t channels, const std::vector<int64_t>& blocks);

// A convolution's input with as few channels, or with channels no block divides, is read as plain NCHW, or in one block of as many.
inline constexpr int64_t kFewChannels = 4;

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CHANNEL_LAYOUT_H_
