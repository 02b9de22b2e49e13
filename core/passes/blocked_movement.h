// Slice, Split, Resize and Pad of images whose channels lie in blocks.
#ifndef SLIPWAY_CORE_PASSES_BLOCKED_MOVEMENT_H_
#define SLIPWAY_CORE_PASSES_BLOCKED_MOVEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {

// Channels [begin, begin + count) of an image.
struct ChannelRange {
  int64_t begin = 0;
  int64_t count = 0;
};

// Which channels of its input an output of a node of the roles kSlice, kSplit, kResize and kPad is made of, one entry an output,
// unset for those that are omitted. Nothing where images, channels out of their order, or values that are not
// constants are picked, too. All types are known; input 0 and outputs are images whose channels, rows and columns are known.
std::optional<std::vector<std::optional<ChannelRange>>> MovedChannels(
    const Graph& graph, const Node& node, const OperatorRegistry& registry);

// Output `output` of such a node in blocks of `block` channels, of `x`, which is its input 0 in the same ones. `range` is that
// of MovedChannels; `block` divides both numbers.
absl::StatusOr<ValueId> AddBlockedMovement(GraphRewriter& rewriter, const Node& node, size_t output,
                                           const ChannelRange& range, ValueId x, int64_t block,
                                           const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_BLOCKED_MOVEMENT_H_
