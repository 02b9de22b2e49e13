// BatchNormalization at inference and LRN, which are expressions, and Softmax along one axis.
#include "core/operators/normalization.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/reduction.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

// Each is a term of the expression.
constexpr int64_t kMaxNeighbours = 64;

absl::StatusOr<std::vector<Func>> LowerBatchNormalization(LoweringContext& context) {
  const int rank = static_cast<int>(context.output_types[0].shape.size());
  const std::vector<Var> vars = FreshVars(rank);
  const Expr channel = rank >= 2 ? Expr(vars[rank - 2]) : Expr(vars[0]);
  const Expr scale = context.inputs[1](channel) /
                     Halide::sqrt(context.inputs[4](channel) + context.node.Float("epsilon"));
  Func result("batch_normalization");
  result(vars) = (context.inputs[0](AsExprs(vars)) - context.inputs[3](channel)) * scale +
                 context.inputs[2](channel);
  return std::vector<Func>{result};
}

// value^(-beta) for a positive value.
Expr NegativePower(const Expr& value, float beta) {
  if (beta == 0.75f) {
    const Expr root = Halide::sqrt(value);
    return 1.0f / (root * Halide::sqrt(root));
  }
  if (beta == 0.5f) return 1.0f / Halide::sqrt(value);
  if (beta == 1.0f) return 1.0f / value;
  return PowOf(value, -beta);
}

absl::Status ServesInference(const NodeView& node, absl::Span<const TensorType> outputs) {
  if (node.Int("training_mode") != 0) {
    return node.Unimplemented("no kernel can be generated for training yet");
  }
  return ServesFloat32(node, outputs);
}

absl::Status ServesLrn(const NodeView& node, absl::Span<const TensorType> outputs) {
  SLIPWAY_RETURN_IF_ERROR(ServesFloat32(node, outputs));
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(node));
  if (lrn.size > kMaxNeighbours) {
    return node.Unimplemented(
        absl::StrCat("no kernel can be generated for more than ", kMaxNeighbours, " neighbours"));
  }
  return absl::OkStatus();
}

// x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta
absl::StatusOr<std::vector<Func>> LowerLrn(LoweringContext& context) {
  const NodeView& node = context.node;
  const Shape& shape = context.output_types[0].shape;
  const int rank = static_cast<int>(shape.size());
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(node));
  const int size = static_cast<int>(lrn.size);
  const int channels = static_cast<int>(shape[1]);
  const std::vector<Var> vars = FreshVars(rank);
  const Var channel = vars[rank - 2];
  std::vector<Expr> at = AsExprs(vars);
  Expr sum = 0.0f;
  const int before = (size - 1) / 2;
  for (int i = 0; i < size; ++i) {
    const Expr neighbour = channel + (i - before);
    at[rank - 2] = Halide::clamp(neighbour, 0, channels - 1);
    const Expr value = context.inputs[0](at);
    sum += Halide::select(neighbour >= 0 && neighbour < channels, value * value, 0.0f);
  }
  const Expr base = lrn.bias + sum * (lrn.alpha / static_cast<float>(size));
  Func result("lrn");
  result(vars) = context.inputs[0](AsExprs(vars)) * NegativePower(base, lrn.beta);
  return std::vector<Func>{result};
}

// The maximum is subtracted first, so that no exponential overflows. NaN in a row makes the row NaN, by way of the
// maximum: one that lost it would be that of the elements behind it alone.
absl::StatusOr<std::vector<Func>> LowerSoftmax(LoweringContext& context) {
  const Shape& shape = context.node.input_shape(0);
  const int rank = static_cast<int>(shape.size());
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeSoftmax(context.node));
  const std::vector<int> extents = HalideExtents(shape);
  const int along = rank - 1 - static_cast<int>(axis);

  std::vector<bool> reduced(rank, false);
  reduced[along] = true;
  std::vector<Var> vars = FreshVars(rank);
  std::vector<Var> kept = vars;
  kept.erase(kept.begin() + along);
  const std::vector<Expr> kept_at = AsExprs(kept);

  const Func input = context.inputs[0];
  const PartialReduction largest = ReducePartially(
      context.lanes, [&](const std::vector<Expr>& at) { return Expr(input(at)); }, extents, reduced,
      kept, {LowestOf(Halide::Float(32)), MaxOf}, "largest");
  Func exponential("exponential");
  exponential(vars) = ExpOf(input(AsExprs(vars)) - largest.total(kept_at));
  const PartialReduction sum = ReducePartially(
      context.lanes, [&](const std::vector<Expr>& at) { return Expr(exponential(at)); }, extents,
      reduced, kept, {Expr(0.0f), [](Expr a, Expr b) { return a + b; }}, "sum");
  Func result("softmax");
  result(vars) = exponential(AsExprs(vars)) / sum.total(kept_at);

  context.anchor =
      Anchor{AnchorKind::kSoftmax, SoftmaxStages{largest, exponential, sum, extents, along},
             /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterNormalizationLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add(
      "BatchNormalization", Lowering(LowerBatchNormalization).Serving(ServesInference)));
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("LRN", Lowering(LowerLrn).Serving(ServesLrn)));
  return lowerings.Add("Softmax", Lowering(LowerSoftmax).Serving(ServesFloat32));
}

}  // namespace slipway
