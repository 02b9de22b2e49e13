// Operators that make each output element from the one element of their input at its place: activations,
// Cast, Identity, Dropout at inference; and Clip, whose bounds are one number each.
#include <functional>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/formula.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::select;

Formula Unary(std::function<Expr(Expr)> function) {
  return [function](const NodeView&, const std::vector<Expr>& in) { return function(in[0]); };
}

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
  return SelectStrictly(in[0] < 0.0f, (ExpOf(in[0]) - 1.0f) * node.Float("alpha"), in[0]);
}

Expr HardSigmoid(const NodeView& node, const std::vector<Expr>& in) {
  return ClampStrictly(in[0] * node.Float("alpha") + node.Float("beta"), 0.0f, 1.0f);
}

Expr HardSwish(Expr x) { return x * ClampStrictly(x / 6.0f + 0.5f, 0.0f, 1.0f); }

using ContextFormula =
    std::function<Expr(const LoweringContext& context, const std::vector<Expr>& inputs)>;

// Over every type, bool (one byte, 0 or 1) among them.
Lowering Broadcasting(ContextFormula formula) {
  return [formula](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    const std::vector<Halide::Var> vars =
        FreshVars(static_cast<int>(context.output_types[0].shape.size()));
    std::vector<Expr> inputs;
    for (int i = 0; i < context.node.num_inputs(); ++i) {
      inputs.push_back(
          ReadBroadcast(context.inputs[i], context.node.input_shape(i), AsExprs(vars)));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(context.output_types[0].dtype));
    Func result("logic");
    result(vars) = cast(type, formula(context, inputs));
    return std::vector<Func>{result};
  };
}

Expr AsByte(Expr condition) {
  return Halide::strict_float(select(std::move(condition), cast<uint8_t>(1), cast<uint8_t>(0)));
}

Expr CastElement(const LoweringContext& context, const std::vector<Expr>& in) {
  const bool to_bool = context.output_types[0].dtype == DataType::kBool;
  const bool from_bool = context.node.input_type(0).dtype() == DataType::kBool;
  if (to_bool && !from_bool) {
    return AsByte(in[0] != Halide::Internal::make_zero(in[0].type()));
  }
  return in[0];
}

}  // namespace

absl::Status RegisterElementwiseLowerings(Lowerings& lowerings) {
  const auto identity = [](Expr x) { return x; };
  const FormulaRow rows[] = {
      {"Abs", Types::kNumber,
       Unary([](Expr x) { return x.type().is_uint() ? x : cast(x.type(), Halide::abs(x)); })},
      {"Clip", Types::kNumber, Clip},
      {"Elu", Types::kFloat, Elu},
      {"Exp", Types::kFloat, Unary(ExpOf)},
      {"HardSigmoid", Types::kFloat, HardSigmoid},
      {"HardSwish", Types::kFloat, Unary(HardSwish)},
      {"LeakyRelu", Types::kFloat, LeakyRelu},
      {"Log", Types::kFloat, Unary(LogOf)},
      {"Neg", Types::kNumber, Unary([](Expr x) { return -x; })},
      {"Relu", Types::kNumber, Unary(Relu)},
      {"Sigmoid", Types::kFloat, Unary(SigmoidOf)},
      {"Sqrt", Types::kFloat, Unary([](Expr x) { return Halide::sqrt(x); })},
      {"Tanh", Types::kFloat, Unary(TanhOf)},
      {"Dropout", Types::kNumber, Unary(identity)},
  };
  for (const FormulaRow& row : rows) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(row.op, Elementwise(row.types, row.formula)));
  }
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("Cast", Broadcasting(CastElement)));
  return lowerings.Add("Identity", Broadcasting([](const LoweringContext&,
                                                   const std::vector<Expr>& in) { return in[0]; }));
}

}  // namespace slipway
