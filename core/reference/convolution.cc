#include "core/operators/convolution.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/convolution.h"
#include "core/kernels/winograd.h"
#include "core/reference/families.h"
#include "core/reference/strassen.h"
#include "core/reference/window_parameters.h"

namespace slipway {
namespace {

absl::Status Convolve(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  parameters.Add(conv.group);
  parameters.Add(conv.in_block);
  parameters.Add(conv.out_block);
  parameters.Add(conv.terms);
  parameters.Add(conv.zero);
  AddWindow(conv.window, parameters);
  return absl::OkStatus();
}

absl::Status ConvolveTiles(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  for (const int64_t pad : conv.window.pads_begin) parameters.Add(pad);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterConvolutionKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"Conv", {"slipway_Conv", slipway_Conv, Convolve}},
      {"slipway.IntegerConv", {"slipway_Conv", slipway_Conv, Convolve}},
      {"slipway.ConvNCHWc", {"slipway_Conv", slipway_Conv, Convolve}},
      {"slipway.DepthwiseConvNCHWc", {"slipway_DepthwiseConv", slipway_DepthwiseConv, Convolve}},
      {"slipway.WinogradConvNCHWc", {"slipway_WinogradConv", slipway_WinogradConv, ConvolveTiles}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return kernels.Add("slipway.StrassenConvNCHWc", StrassenConvNchwc);
}

}  // namespace slipway
