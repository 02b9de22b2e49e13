// Convolutions: plain (NCHW), over channel blocks (NCHWc) with packed weights, and depthwise. Winograd's is in winograd.h.
#include "core/operators/convolution.h"

#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/strassen.h"
#include "core/codegen/lower/window.h"
#include "core/codegen/lower/winograd.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

// Products of a u8 and an i8 whose sums any f32 holds.
constexpr int64_t kMaxExactProducts = (1 << 24) / (255 * 128);

// The input as the convolution reads it, padded if need be, and what it knows of its surroundings.
struct Prepared {
  PlaneWindow window;
  int group = 1;
  int terms = 1;  // As ConvolutionStages has them.
  Halide::Type sum_type = Halide::Float(32);
  Func input;  // Index 0 is the first padded position.
  ConvolutionStages stages;
};

// A product as it is summed. Those of integers fit in 32 bits.
Expr Product(const Prepared& prepared, const Expr& x, const Expr& w) {
  return Halide::cast(prepared.sum_type, x) * Halide::cast(prepared.sum_type, w);
}

// `x_dim` is the dimension of the input's width in Halide's order.
absl::StatusOr<Prepared> Prepare(LoweringContext& context, int x_dim) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(context.node));
  Prepared prepared;
  SLIPWAY_ASSIGN_OR_RETURN(prepared.window, PlaneOf(context.node, conv.window));
  prepared.group = static_cast<int>(conv.group);
  if (conv.is_integer) prepared.sum_type = Halide::Int(32);
  prepared.terms = static_cast<int>(conv.terms);
  prepared.input = context.inputs[0];
  if (prepared.window.ReadsOutside()) {
    const Halide::Type type = context.inputs[0].output_types()[0];
    prepared.input = PaddedInput(context.inputs[0], x_dim, prepared.window,
                                 conv.zero == 0 ? Halide::Internal::make_zero(type)
                                                : Halide::Internal::make_const(type, conv.zero));
    prepared.stages.padded = prepared.input;
  }
  if (conv.out_block > 1) prepared.stages.block = static_cast<int>(conv.out_block);
  if (x_dim > 0) prepared.stages.input_block = static_cast<int>(conv.in_block);
  prepared.stages.batch = conv.batch == kOpenExtent ? kOpen : static_cast<int>(conv.batch);
  prepared.stages.channel_blocks = static_cast<int>(conv.out_channels / conv.out_block);
  prepared.stages.height = prepared.window.output[0];
  prepared.stages.width = prepared.window.output[1];
  const int64_t channels = conv.in_channels / conv.group;
  prepared.stages.input_bytes = channels * prepared.window.input[0] * prepared.window.input[1] *
                                ByteSize(context.node.input_type(0).dtype());
  prepared.stages.block_weight_bytes = channels * prepared.window.kernel[0] *
                                       prepared.window.kernel[1] * conv.out_block *
                                       ByteSize(context.node.input_type(1).dtype());
  return prepared;
}

// accumulator + bias, of the type, the operator's own result, with the accumulator's dimensions.
Func AddBias(const Func& accumulator, const Func* bias, const std::vector<Var>& vars,
             const Expr& channel, Halide::Type type) {
  Func result("conv");
  Expr value = Halide::cast(type, accumulator(vars));
  if (bias != nullptr) value += (*bias)(channel);
  result(vars) = value;
  return result;
}

const Func* Bias(const LoweringContext& context) {
  return context.node.has_input(2) ? &context.inputs[2] : nullptr;
}

// w is [Co/co, Ci/g/ci, KH, KW, ci, co], or for a plain input [Co/co, Ci/g, KH, KW, co]; of small numbers with terms innermost.
absl::StatusOr<std::vector<Func>> LowerConvNchwc(LoweringContext& context) {
  const Shape& w = context.node.input_shape(1);
  const bool plain_input = context.node.input_type(0).rank() == 4;
  SLIPWAY_ASSIGN_OR_RETURN(Prepared prepared, Prepare(context, plain_input ? 0 : 1));
  const PlaneWindow& window = prepared.window;
  const int group = prepared.group;
  const int out_blocks = static_cast<int>(w[0]);
  const int in_blocks = static_cast<int>(w[1]);  // Of one group; channels for a plain input.
  const int block = HalideExtents(context.output_types[0])[0];

  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  const std::vector<Var> vars = {c, x, y, channel, n};
  const Expr first = group == 1 ? Expr(0) : (channel / (out_blocks / group)) * in_blocks;
  // What is summed up lies innermost in w: channels or, for a plain input, columns. The terms of a sum that is made at once are
  // one step of a dimension of their own.
  const int terms = prepared.terms;
  const int in_block =
      plain_input ? 1 : static_cast<int>(context.node.input_type(0).dimension(4).extent());
  const int columns = window.kernel[1];
  const Halide::Region steps =
      plain_input
          ? Halide::Region{{0, terms}, {0, columns / terms}, {0, window.kernel[0]}, {0, in_blocks}}
          : Halide::Region{{0, terms},
                           {0, in_block / terms},
                           {0, columns},
                           {0, window.kernel[0]},
                           {0, in_blocks}};
  const RDom r(steps, "r");
  const Expr step = r[1] * terms + r[0];
  const Expr column = plain_input ? step : Expr(r[2]);
  const Expr row = plain_input ? r[2] : r[3];
  const Expr in_channel = plain_input ? r[3] : r[4];
  std::vector<Expr> x_at = {x * window.stride[1] + column * window.dilation[1],
                            y * window.stride[0] + row * window.dilation[0], first + in_channel, n};
  std::vector<Expr> w_at = {c, r[1], row, in_channel, channel};
  if (!plain_input) {
    x_at.insert(x_at.begin(), step);
    w_at.insert(w_at.begin() + 2, r[2]);
  }
  if (terms > 1) w_at.insert(w_at.begin(), r[0]);
  Func accumulator("accumulator");
  const Func* bias = Bias(context);
  const Expr out_channel = channel * block + c;
  if (bias != nullptr && prepared.sum_type.is_int()) {
    accumulator(vars) = (*bias)(out_channel);  // Integers are summed in any order.
    bias = nullptr;
  } else {
    accumulator(vars) = Halide::Internal::make_zero(prepared.sum_type);
  }
  Func loaded("loaded");
  std::vector<Var> loaded_at(x_at.size());
  loaded(loaded_at) = prepared.input(std::vector<Expr>(loaded_at.begin(), loaded_at.end()));
  accumulator(vars) += Product(prepared, loaded(x_at), context.inputs[1](w_at));
  prepared.stages.reduction = r;
  prepared.stages.terms = terms;
  const bool are_columns_together = !plain_input && window.dilation[1] == 1;
  prepared.stages.steps_together = in_block / terms * (are_columns_together ? columns : 1);
  // Vectors of a plain input may reach a little beyond what is read: there is padding then, or none are loaded.
  if (terms == 1 && (!plain_input || (window.dilation[1] == 1 && window.ReadsOutside()))) {
    prepared.stages.loaded = loaded;
    prepared.stages.steps = Halide::RVar(r[1]);
  }
  prepared.stages.accumulator = accumulator;
  prepared.stages.group_blocks = out_blocks / group;
  context.anchor =
      Anchor{AnchorKind::kBlockedConvolution, prepared.stages, /*takes_epilogue=*/true};
  return std::vector<Func>{AddBias(accumulator, bias, vars, out_channel, prepared.sum_type)};
}

// w is [C/c, KH, KW, c].
absl::StatusOr<std::vector<Func>> LowerDepthwiseConvNchwc(LoweringContext& context) {
  const Shape& w = context.node.input_shape(1);
  SLIPWAY_ASSIGN_OR_RETURN(Prepared prepared, Prepare(context, 1));
  const PlaneWindow& window = prepared.window;
  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  const std::vector<Var> vars = {c, x, y, channel, n};
  RDom r(0, window.kernel[1], 0, window.kernel[0], "r");
  // Sums of few bytes are summed in f32, which holds them all and whose products are not slower than those of any integers. What is
  // smaller than f32 becomes that a few rows at a time.
  const Halide::Type sum_type = prepared.sum_type;
  const Halide::Type type = prepared.input.output_types()[0];
  const bool is_bytes =
      type == Halide::UInt(8) && int64_t{window.kernel[0]} * window.kernel[1] <= kMaxExactProducts;
  if (is_bytes || type == Halide::BFloat(16)) {
    prepared.sum_type = Halide::Float(32);
    Func real("real");
    real(vars) = Halide::cast<float>(prepared.input(vars));
    prepared.input = real;
    prepared.stages.padded = real;
    prepared.stages.slides = true;
    prepared.stages.window_rows = (window.kernel[0] - 1) * window.dilation[0] + 1;
  }
  Func accumulator("accumulator");
  accumulator(vars) = Halide::Internal::make_zero(prepared.sum_type);
  accumulator(vars) +=
      Product(prepared,
              prepared.input(c, x * window.stride[1] + r.x * window.dilation[1],
                             y * window.stride[0] + r.y * window.dilation[0], channel, n),
              context.inputs[1](c, r.x, r.y, channel));
  prepared.stages.reduction = r;
  prepared.stages.accumulator = accumulator;
  prepared.stages.group_blocks = 1;
  const int block = static_cast<int>(w.back());
  context.anchor =
      Anchor{AnchorKind::kDepthwiseConvolution, prepared.stages, /*takes_epilogue=*/true};
  return std::vector<Func>{
      AddBias(accumulator, Bias(context), vars, channel * block + c, sum_type)};
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
  accumulator(vars) = Halide::Internal::make_zero(prepared.sum_type);
  accumulator(vars) +=
      Product(prepared,
              prepared.input(x * window.stride[1] + r.x * window.dilation[1],
                             y * window.stride[0] + r.y * window.dilation[0], first + r.z, n),
              context.inputs[1](r.x, r.y, r.z, channel));
  prepared.stages.reduction = r;
  prepared.stages.accumulator = accumulator;
  prepared.stages.group_blocks = group_channels;
  context.anchor = Anchor{AnchorKind::kPlainConvolution, prepared.stages, /*takes_epilogue=*/true};
  return std::vector<Func>{AddBias(accumulator, Bias(context), vars, channel, prepared.sum_type)};
}

absl::Status Serves(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(node));
  // Of types whose sums are of another one the type rule lets none through that there is no kernel for.
  const bool is_summed_wider = outputs[0].dtype() != node.input_type(0).dtype();
  if (!is_summed_wider) SLIPWAY_RETURN_IF_ERROR(ServesFloat32(node, outputs));
  return PlaneOf(node, conv.window).status();
}

}  // namespace

absl::Status RegisterConvolutionLowerings(Lowerings& lowerings) {
  for (const char* op : {"Conv", "slipway.IntegerConv"}) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(op, Lowering(LowerConv).Serving(Serves).Open()));
  }
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("slipway.ConvNCHWc", Lowering(LowerConvNchwc).Serving(Serves).Open()));
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("slipway.StrassenConvNCHWc", LowerStrassenConvNchwc));
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("slipway.WinogradConvNCHWc", Lowering(LowerWinogradConvNchwc).Serving(Serves)));
  return lowerings.Add("slipway.DepthwiseConvNCHWc",
                       Lowering(LowerDepthwiseConvNchwc).Serving(Serves).Open());
}

}  // namespace slipway
