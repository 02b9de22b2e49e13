#include "core/operators/quantization.h"

#include "core/base/status_macros.h"
#include "core/kernels/quantization.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Parameters(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizationView quantization, DecodeQuantization(view));
  parameters.Add(static_cast<int64_t>(quantization.granularity));
  parameters.Add(quantization.axis);
  parameters.Add(quantization.block);
  parameters.Add(static_cast<int64_t>(quantization.precision));
  parameters.Add(quantization.saturate);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterQuantizationKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("QuantizeLinear",
                  CallableKernel{"slipway_QuantizeLinear", slipway_QuantizeLinear, Parameters}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "DequantizeLinear",
      CallableKernel{"slipway_DequantizeLinear", slipway_DequantizeLinear, Parameters}));
  return kernels.Add(
      "DynamicQuantizeLinear",
      CallableKernel{"slipway_DynamicQuantizeLinear", slipway_DynamicQuantizeLinear, {}});
}

}  // namespace slipway
