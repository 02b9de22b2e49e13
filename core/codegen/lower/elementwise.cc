// Operators that make each output element from the one element of their input at its place: activations,
// Identity, Dropout at inference; and Clip, whose bounds are one number each.
#include <functional>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/formula.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Func;

Expr Relu(Expr x) { return MaxOf(x, Halide::Internal::make_zero(x.type())); }

Expr ClampStrictly(Expr x, Expr low, Expr high) { return MinOf(MaxOf(x, low), high); }

Expr Clip(const NodeView&, const std::vector<Expr>& in) {
  Expr x = in[0];
  if (in.size() > 1 && in[1].defined()) x = SelectStrictly(x < in[1], in[1], x);
  if (in.size() > 2 && in[2].defined()) x = SelectStrictly(x > in[2], in[2], x);
  return x;
}

Expr LeakyRelu(const NodeView& node, const std::vector<Expr>& in) {
  return SelectStrictly(in[0] < 0.0f, in[0] * node.Float("alpha"), in[0]);
}

Expr Elu(const NodeView& node, const std::vector<Expr>& in) {
  return SelectStrictly(in[0] < 0.0f, ExpLessOneOf(in[0]) * node.Float("alpha"), in[0]);
}

Expr HardSigmoid(const NodeView& node, const std::vector<Expr>& in) {
  return ClampStrictly(in[0] * node.Float("alpha") + node.Float("beta"), 0.0f, 1.0f);
}

Expr HardSwish(Expr x) { return x * ClampStrictly(x / 6.0f + 0.5f, 0.0f, 1.0f); }

Expr Sign(Expr x) {
  const Expr zero = Halide::Internal::make_zero(x.type());
  const Expr one = Halide::Internal::make_one(x.type());
  if (x.type().is_uint()) return Halide::min(x, one);
  return SelectStrictly(x > zero, one, SelectStrictly(x < zero, -one, x));
}

// Over every type, bool (one byte, 0 or 1) among them.
absl::StatusOr<std::vector<Func>> Identity(LoweringContext& context) {
  const std::vector<Halide::Var> vars = FreshVars(context.output_types[0].rank());
  Func result("same");
  result(vars) = ReadBroadcast(context.inputs[0], context.node.input_type(0), AsExprs(vars));
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterElementwiseLowerings(Lowerings& lowerings) {
  const auto identity = [](Expr x) { return x; };
  const FormulaRow rows[] = {
      {"Abs", Types::kNumber,
       Unary([](Expr x) { return x.type().is_uint() ? x : cast(x.type(), Halide::abs(x)); })},
      {"Ceil", Types::kFloat, Unary([](Expr x) { return Halide::ceil(x); })},
      {"Clip", Types::kNumber, Clip},
      {"Cos", Types::kFloat, Unary(CosOf)},
      {"Elu", Types::kFloat, Elu},
      {"Erf", Types::kFloat, Unary(ErfOf)},
      {"Exp", Types::kFloat, Unary(ExpOf)},
      {"Floor", Types::kFloat, Unary([](Expr x) { return Halide::floor(x); })},
      {"HardSigmoid", Types::kFloat, HardSigmoid},
      {"HardSwish", Types::kFloat, Unary(HardSwish)},
      {"LeakyRelu", Types::kFloat, LeakyRelu},
      {"Log", Types::kFloat, Unary(LogOf)},
      {"Neg", Types::kNumber, Unary([](Expr x) { return Strictly(-x); })},
      {"Reciprocal", Types::kFloat, Unary([](Expr x) { return Strictly(1.0f / x); })},
      {"Relu", Types::kNumber, Unary(Relu)},
      {"Round", Types::kFloat, Unary(RoundOf)},
      {"Sigmoid", Types::kFloat, Unary(SigmoidOf)},
      {"Sign", Types::kNumber, Unary(Sign)},
      {"Sin", Types::kFloat, Unary(SinOf)},
      {"Sqrt", Types::kFloat, Unary([](Expr x) { return Strictly(Halide::sqrt(x)); })},
      {"Tanh", Types::kFloat, Unary(TanhOf)},
      {"Dropout", Types::kNumber, Unary(identity)},
  };
  SLIPWAY_RETURN_IF_ERROR(AddFormulas(rows, lowerings));
  return lowerings.Add("Identity", Lowering(Identity).Open());
}

}  // namespace slipway
