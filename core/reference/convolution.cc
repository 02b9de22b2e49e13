#include "core/operators/convolution.h"

#include "core/base/status_macros.h"
#include "core/kernels/convolution.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"
#include "core/reference/window_dimensions.h"

namespace slipway {
namespace {

absl::Status Convolve(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(call.view));
  kernels::ConvolutionShape shape;
  shape.batch = conv.batch;
  shape.in_channels = conv.in_channels;
  shape.out_channels = conv.out_channels;
  shape.group = conv.group;
  shape.in_block = conv.in_block;
  shape.out_block = conv.out_block;
  SetWindow(conv.window, shape);
  const bool depthwise = call.view.op() == "slipway.DepthwiseConvNCHWc";
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto kernel = depthwise ? kernels::DepthwiseConvolution<T> : kernels::Convolution<T>;
    kernel(shape, In<T>(call, 0), In<T>(call, 1), In<T>(call, 2), Out<T>(call));
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RegisterConvolutionKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Conv", Convolve));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.ConvNCHWc", Convolve));
  return kernels.Add("slipway.DepthwiseConvNCHWc", Convolve);
}

}  // namespace slipway
