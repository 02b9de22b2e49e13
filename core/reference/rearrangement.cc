#include "core/operators/rearrangement.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/rearrangement.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status CenterCropPad(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, DecodeCenterCropPad(view));
  parameters.AddAll(axes);
  return absl::OkStatus();
}

absl::Status Trilu(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("upper") != 0);
  return absl::OkStatus();
}

absl::Status ReverseSequence(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ReverseSequenceView reverse, DecodeReverseSequence(view));
  parameters.Add(reverse.time_axis);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterRearrangementKernels(KernelColumn& kernels) {
  using Finds = CallableKernel::Finds;
  const std::pair<const char*, CallableKernel> rows[] = {
      {"CenterCropPad",
       {"slipway_CenterCropPad", slipway_CenterCropPad, CenterCropPad,
        "slipway_CenterCropPad_extents", slipway_CenterCropPad_extents, Finds::kEvery}},
      {"ReverseSequence", {"slipway_ReverseSequence", slipway_ReverseSequence, ReverseSequence}},
      {"Tile",
       {"slipway_Tile", slipway_Tile, nullptr, "slipway_Tile_extents", slipway_Tile_extents,
        Finds::kEvery}},
      {"Trilu", {"slipway_Trilu", slipway_Trilu, Trilu}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
