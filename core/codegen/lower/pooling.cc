// Max and average pools over [N, C, H, W] and channel blocks [N, C/c, H, W, c], and over all of space.
#include "core/operators/pooling.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/reduction.h"
#include "core/codegen/lower/window.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

// Index of the first position that output `at` reads along spatial dimension d, in the input.
Expr WindowBegin(const PlaneWindow& window, int d, const Expr& at) {
  return at * window.stride[d] - window.pad_begin[d];
}

// How many positions output `at` averages over along spatial dimension d. With `include_pad` those of
// the padding count, but never those beyond it, which ceil_mode reaches.
Expr WindowCount(const PlaneWindow& window, int d, const Expr& at, bool include_pad) {
  const Expr begin = WindowBegin(window, d, at);
  const Expr end = begin + window.kernel[d];
  if (include_pad) return Halide::min(end, window.input[d] + window.pad_end[d]) - begin;
  return Halide::min(end, window.input[d]) - Halide::max(begin, 0);
}

// Whether every window has a position inside the input, so that an index clamped to the input stays in
// its window.
bool EveryWindowIsInside(const PlaneWindow& window) {
  for (int d = 0; d < 2; ++d) {
    if (window.dilation[d] != 1 || window.pad_begin[d] >= window.kernel[d]) return false;
    const int64_t last = int64_t{window.output[d] - 1} * window.stride[d] - window.pad_begin[d];
    if (last >= window.input[d]) return false;
  }
  return true;
}

absl::StatusOr<std::vector<Func>> LowerPool(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const PoolView pool, DecodePool(context.node));
  SLIPWAY_ASSIGN_OR_RETURN(const PlaneWindow window, PlaneOf(context.node, pool.window));
  const bool blocked = pool.blocked;

  Var c("c"), x("x"), y("y"), channel("channel"), n("n");
  std::vector<Var> vars = {x, y, channel, n};
  if (blocked) vars.insert(vars.begin(), c);
  const int x_dim = blocked ? 1 : 0;
  const Halide::Type type = context.inputs[0].output_types()[0];
  const Expr identity = pool.is_max ? LowestOf(type) : Halide::Internal::make_zero(type);
  RDom r(0, window.kernel[1], 0, window.kernel[0], "r");

  ConvolutionStages stages;
  std::vector<Expr> at = AsExprs(vars);
  Expr value;
  const bool outside = window.ReadsOutside();
  if (pool.is_max && blocked && outside && EveryWindowIsInside(window)) {
    // The edge's value in place of one outside changes no maximum, and saves the padded copy.
    at[x_dim] = Halide::clamp(WindowBegin(window, 1, x) + r.x, 0, window.input[1] - 1);
    at[x_dim + 1] = Halide::clamp(WindowBegin(window, 0, y) + r.y, 0, window.input[0] - 1);
    value = context.inputs[0](at);
  } else {
    Func input = context.inputs[0];
    if (outside) {
      input = PaddedInput(context.inputs[0], x_dim, window, identity);
      stages.padded = input;
    }
    at[x_dim] = x * window.stride[1] + r.x * window.dilation[1];
    at[x_dim + 1] = y * window.stride[0] + r.y * window.dilation[0];
    value = input(at);
  }

  Func accumulator("accumulator");
  accumulator(vars) = identity;
  accumulator(vars) = pool.is_max ? MaxOf(accumulator(vars), value) : accumulator(vars) + value;
  Func result("pool");
  if (pool.is_max) {
    result(vars) = accumulator(vars);
  } else {
    const Expr count = WindowCount(window, 0, y, pool.count_include_pad) *
                       WindowCount(window, 1, x, pool.count_include_pad);
    result(vars) = accumulator(vars) / Halide::cast<float>(count);
  }

  const std::vector<int> out_extents = HalideExtents(context.output_types[0]);
  if (blocked) stages.block = stages.input_block = out_extents[0];
  stages.accumulator = accumulator;
  stages.reduction = r;
  stages.batch = out_extents.back();
  stages.channel_blocks = out_extents[out_extents.size() - 2];
  stages.height = window.output[0];
  stages.width = window.output[1];
  context.anchor =
      Anchor{blocked ? AnchorKind::kDepthwiseConvolution : AnchorKind::kPlainConvolution, stages,
             /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

absl::Status ServesPool(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const PoolView pool, DecodePool(node));
  if (!pool.is_max) SLIPWAY_RETURN_IF_ERROR(ServesFloat32(node, outputs));
  if (node.has_output(1)) {
    return node.Unimplemented("no kernel can be generated for the places of maxima yet");
  }
  SLIPWAY_RETURN_IF_ERROR(ServesEveryType(node, outputs));
  SLIPWAY_ASSIGN_OR_RETURN(const PlaneWindow window, PlaneOf(node, pool.window));
  if (!pool.is_max && (window.dilation[0] != 1 || window.dilation[1] != 1)) {
    return node.Unimplemented("no kernel can be generated for a dilated average yet");
  }
  return absl::OkStatus();
}

Lowering GlobalPool(ReduceKind kind) {
  return [kind = std::move(kind)](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    std::vector<bool> reduced(context.node.input_shape(0).size(), true);
    std::fill_n(reduced.begin(), std::min<size_t>(2, reduced.size()), false);
    return LowerReduction(context, std::move(reduced), /*keep_dims=*/true, kind);
  };
}

}  // namespace

absl::Status RegisterPoolingLowerings(Lowerings& lowerings) {
  for (const char* op :
       {"MaxPool", "AveragePool", "slipway.MaxPoolNCHWc", "slipway.AveragePoolNCHWc"}) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(op, Lowering(LowerPool).Serving(ServesPool).Open()));
  }
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("GlobalAveragePool", GlobalPool(MeanOf()).Serving(ServesFloat32)));
  return lowerings.Add("GlobalMaxPool", GlobalPool(LargestOf()).Serving(ServesFloat32));
}

}  // namespace slipway
