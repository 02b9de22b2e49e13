#include "core/operators/sampling.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/sampling.h"
#include "core/reference/families.h"
#include "core/reference/window_parameters.h"

namespace slipway {
namespace {

absl::Status GridSample(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const GridSampleView sample, DecodeGridSample(view));
  parameters.Add(static_cast<int64_t>(sample.mode));
  parameters.Add(static_cast<int64_t>(sample.padding));
  parameters.Add(sample.align_corners);
  return absl::OkStatus();
}

absl::Status AffineGrid(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("align_corners") != 0);
  return absl::OkStatus();
}

absl::Status DeformConv(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const DeformConvView deform, DecodeDeformConv(view));
  parameters.Add(deform.group);
  parameters.Add(deform.offset_group);
  AddWindow(deform.window, parameters);
  return absl::OkStatus();
}

absl::Status RoiAlign(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const RoiAlignView align, DecodeRoiAlign(view));
  parameters.Add(align.maximum);
  parameters.Add(align.half_pixel);
  parameters.Add(align.sampling_ratio);
  parameters.AddReal(align.spatial_scale);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterSamplingKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"AffineGrid",
       {"slipway_AffineGrid", slipway_AffineGrid, AffineGrid, "slipway_AffineGrid_extents",
        slipway_AffineGrid_extents, CallableKernel::Finds::kEvery}},
      {"DeformConv", {"slipway_DeformConv", slipway_DeformConv, DeformConv}},
      {"GridSample", {"slipway_GridSample", slipway_GridSample, GridSample}},
      {"RoiAlign", {"slipway_RoiAlign", slipway_RoiAlign, RoiAlign}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
