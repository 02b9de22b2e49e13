#include "core/operators/contraction.h"

#include "core/base/status_macros.h"
#include "core/kernels/contraction.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Einsum(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const EinsumView einsum, DecodeEinsum(view));
  parameters.Add(static_cast<int64_t>(einsum.extents.size()));
  for (const std::vector<int64_t>& labels : einsum.inputs) parameters.AddAll(labels);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterContractionKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Einsum", CallableKernel{"slipway_Einsum", slipway_Einsum, Einsum}));
  return kernels.Add("Det", CallableKernel{"slipway_Det", slipway_Det, {}});
}

}  // namespace slipway
