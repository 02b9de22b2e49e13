#include "core/operators/deconvolution.h"

#include "core/base/status_macros.h"
#include "core/kernels/deconvolution.h"
#include "core/reference/families.h"
#include "core/reference/window_parameters.h"

namespace slipway {
namespace {

absl::Status ConvTranspose(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvTransposeView transposed, DecodeConvTranspose(view));
  parameters.Add(transposed.group);
  AddWindow(transposed.window, parameters);
  return absl::OkStatus();
}

absl::Status Col2Im(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const Window window, DecodeCol2Im(view));
  AddWindow(window, parameters);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterDeconvolutionKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("ConvTranspose",
                  CallableKernel{"slipway_ConvTranspose", slipway_ConvTranspose, ConvTranspose}));
  return kernels.Add(
      "Col2Im", CallableKernel{"slipway_Col2Im", slipway_Col2Im, Col2Im, "slipway_Col2Im_extents",
                               slipway_Col2Im_extents, CallableKernel::Finds::kEvery});
}

}  // namespace slipway
