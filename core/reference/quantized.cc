#include "core/operators/quantized.h"

#include "core/base/status_macros.h"
#include "core/kernels/quantized.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status ConvParameters(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizedConvView conv, DecodeQuantizedConv(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Window window, KnownWindow(view, conv.window));
  parameters.Add(conv.group);
  parameters.Add(static_cast<int64_t>(window.input.size()));
  parameters.AddAll(window.strides);
  parameters.AddAll(window.dilations);
  parameters.AddAll(window.pads_begin);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterQuantizedKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "ConvInteger", CallableKernel{"slipway_ConvInteger", slipway_ConvInteger, ConvParameters}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "QLinearConv", CallableKernel{"slipway_QLinearConv", slipway_QLinearConv, ConvParameters}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(
      "MatMulInteger", CallableKernel{"slipway_MatMulInteger", slipway_MatMulInteger, {}}));
  return kernels.Add("QLinearMatMul",
                     CallableKernel{"slipway_QLinearMatMul", slipway_QLinearMatMul, {}});
}

}  // namespace slipway
