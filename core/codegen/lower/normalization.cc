// Normalizations that are expressions: BatchNormalization at inference, and LRN.
#include "core/operators/normalization.h"

#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

absl::StatusOr<std::vector<Func>> LowerBatchNormalization(LoweringContext& context) {
  SLIPWAY_RETURN_IF_ERROR(RequireFloat32(context));
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

// x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta
absl::StatusOr<std::vector<Func>> LowerLrn(LoweringContext& context) {
  SLIPWAY_RETURN_IF_ERROR(RequireFloat32(context));
  const NodeView& node = context.node;
  const Shape& shape = context.output_types[0].shape;
  const int rank = static_cast<int>(shape.size());
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(node));
  if (lrn.size > 64) return node.Unimplemented("no kernel for more than 64 neighbours");
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

}  // namespace

absl::Status RegisterNormalizationLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("BatchNormalization", LowerBatchNormalization));
  return lowerings.Add("LRN", LowerLrn);
}

}  // namespace slipway
