#include "core/operators/selection.h"

#include "core/base/status_macros.h"
#include "core/kernels/selection.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status TopK(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const TopKView top, DecodeTopK(view));
  parameters.Add(top.axis);
  parameters.Add(top.largest);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterSelectionKernels(KernelColumn& kernels) {
  return kernels.Add("TopK", CallableKernel{"slipway_TopK", slipway_TopK, TopK});
}

}  // namespace slipway
