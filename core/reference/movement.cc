#include "core/operators/movement.h"

#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/kernels/movement.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Transpose(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, DecodeTranspose(view));
  parameters.AddAll(perm);
  return absl::OkStatus();
}

absl::Status Concat(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeConcat(view));
  parameters.Add(axis);
  return absl::OkStatus();
}

absl::Status Split(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const SplitView split, DecodeSplit(view));
  parameters.Add(split.axis);
  return absl::OkStatus();
}

absl::Status Gather(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeGather(view));
  parameters.Add(axis);
  return absl::OkStatus();
}

absl::Status Pad(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const PadView::Mode mode, DecodePadMode(view));
  switch (mode) {
    case PadView::Mode::kConstant:
      parameters.Add(static_cast<int64_t>(kernels::PadMode::kConstant));
      break;
    case PadView::Mode::kReflect:
      parameters.Add(static_cast<int64_t>(kernels::PadMode::kReflect));
      break;
    case PadView::Mode::kEdge:
      parameters.Add(static_cast<int64_t>(kernels::PadMode::kEdge));
      break;
    case PadView::Mode::kWrap:
      parameters.Add(static_cast<int64_t>(kernels::PadMode::kWrap));
      break;
  }
  return absl::OkStatus();
}

absl::Status Blocks(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(view));
  parameters.Add(move.block);
  parameters.Add(move.channel_major);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterMovementKernels(KernelColumn& kernels) {
  using Finds = CallableKernel::Finds;
  const std::pair<const char*, CallableKernel> rows[] = {
      {"Concat", {"slipway_Concat", slipway_Concat, Concat}},
      {"DepthToSpace", {"slipway_DepthToSpace", slipway_DepthToSpace, Blocks}},
      {"Expand",
       {"slipway_Expand", slipway_Expand, nullptr, "slipway_Expand_extents", slipway_Expand_extents,
        Finds::kEvery}},
      {"Gather", {"slipway_Gather", slipway_Gather, Gather}},
      {"Pad",
       {"slipway_Pad", slipway_Pad, Pad, "slipway_Pad_extents", slipway_Pad_extents,
        Finds::kEvery}},
      {"Slice",
       {"slipway_Slice", slipway_Slice, nullptr, "slipway_Slice_extents", slipway_Slice_extents,
        Finds::kEvery}},
      {"SpaceToDepth", {"slipway_SpaceToDepth", slipway_SpaceToDepth, Blocks}},
      {"Split",
       {"slipway_Split", slipway_Split, Split, "slipway_Split_extents", slipway_Split_extents,
        Finds::kEvery}},
      {"Transpose", {"slipway_Transpose", slipway_Transpose, Transpose}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
