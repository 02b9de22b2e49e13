#include "core/operators/loss.h"

#include "core/base/status_macros.h"
#include "core/kernels/loss.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Parameters(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const LossView loss, DecodeLoss(view));
  parameters.Add(static_cast<int64_t>(loss.reduction));
  parameters.Add(loss.ignored.has_value());
  parameters.Add(loss.ignored.value_or(0));
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterLossKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "NegativeLogLikelihoodLoss", CallableKernel{"slipway_NegativeLogLikelihoodLoss",
                                                  slipway_NegativeLogLikelihoodLoss, Parameters}));
  return kernels.Add("SoftmaxCrossEntropyLoss",
                     CallableKernel{"slipway_SoftmaxCrossEntropyLoss",
                                    slipway_SoftmaxCrossEntropyLoss, Parameters});
}

}  // namespace slipway
