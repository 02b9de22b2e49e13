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
  for (int i = 0; i < view.num_outputs(); ++i) {
    const Dimension& part = split.extents[i];
    if (!view.has_output(i) && !part.is_known()) {
      return view.Unimplemented(absl::StrCat("output ", i, " of ", ToString(part),
                                             " parts is omitted, which is not supported"));
    }
    parameters.Add(part.is_known() ? part.extent() : 0);
  }
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
  const std::pair<const char*, CallableKernel> rows[] = {
      {"Concat", {"slipway_Concat", slipway_Concat, Concat}},
      {"DepthToSpace", {"slipway_DepthToSpace", slipway_DepthToSpace, Blocks}},
      {"Expand", {"slipway_Expand", slipway_Expand, nullptr}},
      {"Gather", {"slipway_Gather", slipway_Gather, Gather}},
      {"Pad", {"slipway_Pad", slipway_Pad, Pad}},
      {"Slice", {"slipway_Slice", slipway_Slice, nullptr}},
      {"SpaceToDepth", {"slipway_SpaceToDepth", slipway_SpaceToDepth, Blocks}},
      {"Split", {"slipway_Split", slipway_Split, Split}},
      {"Transpose", {"slipway_Transpose", slipway_Transpose, Transpose}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
