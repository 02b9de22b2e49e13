// Convolutions: plain (NCHW), over channel blocks (NCHWc) with packed weights, and depthwise. Winograd's is in winograd.h.
#include "core/operators/convolution.h"

#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/window.h"
#include "core/codegen/lower/winograd.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

// The input as the convolution reads it, padded if need be, and what it knows of its surroundings.
struct Prepared {
  PlaneWindow window;
  int group = 1;
  Func input;  // Index 0 is the first padded position.
  ConvolutionStages stages;
};

// `x_dim` is the dimension of the input's width in Halide's order.
absl::StatusOr<Prepared> Prepare(LoweringContext& context, int x_dim) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(context.node));
  Prepared prepared;
  SLIPWAY_ASSIGN_OR_RETURN(prepared.window, PlaneOf(context.node, conv.window));
  prepared.group = static_cast<int>(conv.group);
  prepared.input = context.inputs[0];
  if (prepared.window.ReadsOutside()) {
    prepared.input = PaddedInput(context.inputs[0], x_dim, prepared.window, 0.0f);
    prepared.stages.padded = prepared.input;
  }
  if (x_dim > 0) prepared.stages.input_block = static_cast<int>(conv.in_block);
  prepared.stages.batch = conv.batch == kOpenExtent ? kOpen : static_cast<int>(conv.batch);
  prepared.stages.channel_blocks = static_cast<int>(conv.out_channels / conv.out_block);
  prepared.stages.height = prepared.window.output[0];
  prepared.stages.width = prepared.window.output[1];
  const int64_t channels = conv.in_channels / conv.group;
  prepared.stages.input_bytes =
      channels * prepared.window.input[0] * prepared.window.input[1] * int64_t{sizeof(float)};
  prepared.stages.block_weight_bytes = channels * prepared.window.kernel[0] *
                                       prepared.window.kernel[1] * conv.out_block *
                                       int64_t{sizeof(float)};
  return prepared;
}

// accumulator + bias, the operator's own result, with the accumulator's dimensions.
Func AddBias(const Func& accumulator, const Func* bias, const std::vector<Var>& vars,
             const Expr& channel) {
  Func result("conv");
  Expr value = accumulator(vars);
  if (bias != nullptr) value += (*bias)(channel);
  result(vars) = value;
  return result;
}

const Func* Bias(const LoweringContext& context) {
  return context.node.has_input(2) ? &context.inputs[2] : nullptr;
}

// w is [Co/co, Ci/g/ci, KH, KW, ci, co], or for a plain input [Co/co, Ci/g, KH, KW, co].
absl::StatusOr<std::vector<Func>> LowerConvNchwc(LoweringContext& context) {
  const Shape& w = context.node.input_shape(1);
  const bool plain_input = context.node.input_type(0).rank() == 4;
  SLIPWAY_ASSIGN_OR_RETURN(Prepared prepared, Prepare(context, plain_input ? 0 : 1));
  const PlaneWindow& window = prepared.window;
  const int group = prepared.group;
  const int out_blocks = static_cast<int>(w[0]);
  const int in_blocks = static_cast<int>(w[1]);  // Of one group; channels for a plain input.
  const int block = static_cast<int>(w.back());

  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  const std::vector<Var> vars = {c, x, y, channel, n};
  const Expr first = group == 1 ? Expr(0) : (channel / (out_blocks / group)) * in_blocks;
  Func accumulator("accumulator");
  accumulator(vars) = 0.0f;
  if (plain_input) {
    RDom r(0, window.kernel[1], 0, window.kernel[0], 0, in_blocks, "r");
    accumulator(vars) +=
        prepared.input(x * window.stride[1] + r.x * window.dilation[1],
                       y * window.stride[0] + r.y * window.dilation[0], first + r.z, n) *
        context.inputs[1](c, r.x, r.y, r.z, channel);
    prepared.stages.reduction = r;
  } else {
    RDom r(0, static_cast<int>(w[4]), 0, window.kernel[1], 0, window.kernel[0], 0, in_blocks, "r");
    accumulator(vars) +=
        prepared.input(r.x, x * window.stride[1] + r.y * window.dilation[1],
                       y * window.stride[0] + r.z * window.dilation[0], first + r.w, n) *
        context.inputs[1](c, r.x, r.y, r.z, r.w, channel);
    prepared.stages.reduction = r;
  }
  prepared.stages.accumulator = accumulator;
  prepared.stages.group_blocks = out_blocks / group;
  context.anchor =
      Anchor{AnchorKind::kBlockedConvolution, prepared.stages, /*takes_epilogue=*/true};
  return std::vector<Func>{AddBias(accumulator, Bias(context), vars, channel * block + c)};
}

// w is [C/c, KH, KW, c].
absl::StatusOr<std::vector<Func>> LowerDepthwiseConvNchwc(LoweringContext& context) {
  const Shape& w = context.node.input_shape(1);
  SLIPWAY_ASSIGN_OR_RETURN(Prepared prepared, Prepare(context, 1));
  const PlaneWindow& window = prepared.window;
  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  const std::vector<Var> vars = {c, x, y, channel, n};
  RDom r(0, window.kernel[1], 0, window.kernel[0], "r");
  Func accumulator("accumulator");
  accumulator(vars) = 0.0f;
  accumulator(vars) += prepared.input(c, x * window.stride[1] + r.x * window.dilation[1],
                                      y * window.stride[0] + r.y * window.dilation[0], channel, n) *
                       context.inputs[1](c, r.x, r.y, channel);
  prepared.stages.reduction = r;
  prepared.stages.accumulator = accumulator;
  prepared.stages.group_blocks = 1;
  const int block = static_cast<int>(w.back());
  context.anchor =
      Anchor{AnchorKind::kDepthwiseConvolution, prepared.stages, /*takes_epilogue=*/true};
  return std::vector<Func>{AddBias(accumulator, Bias(context), vars, channel * block + c)};
}

// x is [N, Ci, H, W], w [Co, Ci/g, KH, KW].
absl::StatusOr<std::vector<Func>> LowerConv(LoweringContext& context) {
  const Shape& w = context.node.input_shape(1);
  SLIPWAY_ASSIGN_OR_RETURN(Prepared prepared, Prepare(context, 0));
  const PlaneWindow& window = prepared.window;
  const int group = prepared.group;
  const int group_channels = static_cast<int>(w[0]) / group;
  Var x("x"), y("y"), channel("channel"), n("n");
  const std::vector<Var> vars = {x, y, channel, n};
  RDom r(0, window.kernel[1], 0, window.kernel[0], 0, static_cast<int>(w[1]), "r");
  const Expr first = group == 1 ? Expr(0) : (channel / group_channels) * static_cast<int>(w[1]);
  Func accumulator("accumulator");
  accumulator(vars) = 0.0f;
  accumulator(vars) +=
      prepared.input(x * window.stride[1] + r.x * window.dilation[1],
                     y * window.stride[0] + r.y * window.dilation[0], first + r.z, n) *
      context.inputs[1](r.x, r.y, r.z, channel);
  prepared.stages.reduction = r;
  prepared.stages.accumulator = accumulator;
  prepared.stages.group_blocks = group_channels;
  context.anchor = Anchor{AnchorKind::kPlainConvolution, prepared.stages, /*takes_epilogue=*/true};
  return std::vector<Func>{AddBias(accumulator, Bias(context), vars, channel)};
}

absl::Status Serves(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_RETURN_IF_ERROR(ServesFloat32(node, outputs));
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(node));
  return PlaneOf(node, conv.window).status();
}

}  // namespace

absl::Status RegisterConvolutionLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("Conv", Lowering(LowerConv).Serving(Serves).Open()));
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("slipway.ConvNCHWc", Lowering(LowerConvNchwc).Serving(Serves).Open()));
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("slipway.WinogradConvNCHWc", Lowering(LowerWinogradConvNchwc).Serving(Serves)));
  return lowerings.Add("slipway.DepthwiseConvNCHWc",
                       Lowering(LowerDepthwiseConvNchwc).Serving(Serves).Open());
}

}  // namespace slipway
