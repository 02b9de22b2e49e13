#include "core/operators/activation.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernels/activation.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Gelu(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const bool by_tanh, DecodeGelu(view));
  parameters.Add(by_tanh);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterActivationKernels(KernelColumn& kernels) {
  const struct {
    const char* op;
    slipway_kernel function;
    std::vector<std::string> reals;
  } rows[] = {
      {"Celu", slipway_Celu, {"alpha"}},
      {"Mish", slipway_Mish, {}},
      {"PRelu", slipway_PRelu, {}},
      {"Selu", slipway_Selu, {"alpha", "gamma"}},
      {"Shrink", slipway_Shrink, {"bias", "lambd"}},
      {"Softplus", slipway_Softplus, {}},
      {"Softsign", slipway_Softsign, {}},
      {"SwiGLU", slipway_SwiGLU, {"alpha"}},
      {"Swish", slipway_Swish, {"alpha"}},
      {"ThresholdedRelu", slipway_ThresholdedRelu, {"alpha"}},
  };
  for (const auto& [op, function, reals] : rows) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(
        op, CallableKernel{absl::StrCat("slipway_", op), function, RealAttributes(reals)}));
  }
  return kernels.Add("Gelu", CallableKernel{"slipway_Gelu", slipway_Gelu, Gelu});
}

}  // namespace slipway
