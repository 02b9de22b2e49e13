#include "core/operators/resize.h"

#include "core/base/status_macros.h"
#include "core/kernels/resize.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Resize(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ResizeView resize, DecodeResize(view));
  parameters.Add(static_cast<int64_t>(resize.mode));
  parameters.Add(static_cast<int64_t>(resize.coordinates));
  parameters.Add(static_cast<int64_t>(resize.rounding));
  parameters.Add(static_cast<int64_t>(resize.aspect));
  parameters.Add(resize.antialias);
  parameters.Add(resize.exclude_outside);
  parameters.AddReal(resize.cubic_a);
  parameters.AddReal(resize.extrapolation);
  parameters.Add(resize.has_sizes);
  parameters.Add(static_cast<int64_t>(resize.axes.size()));
  parameters.AddAll(resize.axes);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterResizeKernels(KernelColumn& kernels) {
  return kernels.Add(
      "Resize", CallableKernel{"slipway_Resize", slipway_Resize, Resize, "slipway_Resize_extents",
                               slipway_Resize_extents, CallableKernel::Finds::kEvery});
}

}  // namespace slipway
