// Operators whose every output element is one element of an input: Transpose, Concat, Split, Slice,
// Gather, Expand, Pad, DepthToSpace, SpaceToDepth.
#ifndef SLIPWAY_CORE_OPERATORS_MOVEMENT_H_
#define SLIPWAY_CORE_OPERATORS_MOVEMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Output dimension d is input dimension perm[d].
absl::StatusOr<std::vector<int64_t>> DecodeTranspose(const NodeView& view);

// The axis in [0, rank of input 0).
absl::StatusOr<int64_t> DecodeConcat(const NodeView& view);
absl::StatusOr<int64_t> DecodeGather(const NodeView& view);

struct SplitView {
  int64_t axis = 0;
  Dimensions extents;  // Along the axis, one an output.
};
absl::StatusOr<SplitView> DecodeSplit(const NodeView& view);

// One entry a dimension: output index i reads input index starts[d] + i * steps[d]. Steps may be
// negative, never 0.
struct SliceView {
  Dimensions starts;  // Unknown where they hang on the values of inputs.
  std::vector<int64_t> steps;
  Dimensions output;
};
absl::StatusOr<SliceView> DecodeSlice(const NodeView& view);

// One entry a dimension; negative pads cut elements off.
struct PadView {
  enum class Mode { kConstant, kReflect, kEdge, kWrap };
  Mode mode = Mode::kConstant;  // kConstant pads with input 2, or 0 without it.
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
};
absl::StatusOr<PadView> DecodePad(const NodeView& view);
absl::StatusOr<PadView::Mode> DecodePadMode(const NodeView& view);

// DepthToSpace and SpaceToDepth on [N, C, H, W].
struct BlockMoveView {
  int64_t block = 1;
  // Channel of the deep tensor: c * block^2 + position (CRD) instead of position * C + c (DCR).
  bool channel_major = false;
};
absl::StatusOr<BlockMoveView> DecodeBlockMove(const NodeView& view);

absl::Status RegisterMovementOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_MOVEMENT_H_
