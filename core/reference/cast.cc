#include "core/operators/cast.h"

#include "core/base/status_macros.h"
#include "core/kernels/cast.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Parameters(const NodeView& view, KernelParameters& parameters) {
  CastView cast;
  if (view.op() != "slipway.RoundToBfloat16") {
    SLIPWAY_ASSIGN_OR_RETURN(cast, DecodeCast(view));
  }
  parameters.Add(cast.saturate);
  parameters.Add(static_cast<int64_t>(cast.rounding));
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterCastKernels(KernelColumn& kernels) {
  const CallableKernel kernel = {"slipway_Cast", slipway_Cast, Parameters};
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("CastLike", kernel));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.RoundToBfloat16", kernel));
  return kernels.Add("Cast", kernel);
}

}  // namespace slipway
