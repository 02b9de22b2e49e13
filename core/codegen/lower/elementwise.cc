// Operators that make each output element from one element of each (broadcast) input: arithmetic and
// activations.
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::select;

// An output element from the input elements; an undefined Expr stands for an omitted input.
using Formula = std::function<Expr(const NodeView& node, const std::vector<Expr>& inputs)>;

enum class Types {
  kFloat,   // f32 alone.
  kResult,  // The result, and with it input 0, is f32; others are numbers of any type.
  kNumber,  // Every number: all inputs and the output have one type.
};

Lowering Elementwise(Types types, Formula formula) {
  return [types, formula](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    const DataType dtype = context.output_types[0].dtype;
    if (types == Types::kFloat) SLIPWAY_RETURN_IF_ERROR(RequireFloat32(context));
    if (dtype == DataType::kBool || (types == Types::kResult && dtype != DataType::kFloat32)) {
      return context.node.Unimplemented(absl::StrCat("no kernel for ", Name(dtype), " yet"));
    }
    const std::vector<Halide::Var> vars =
        FreshVars(static_cast<int>(context.output_types[0].shape.size()));
    const std::vector<Expr> at = AsExprs(vars);
    std::vector<Expr> inputs;
    for (int i = 0; i < context.node.num_inputs(); ++i) {
      inputs.push_back(context.node.has_input(i)
                           ? ReadBroadcast(context.inputs[i], context.node.input_shape(i), at)
                           : Expr());
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(dtype));
    Func result("elementwise");
    result(vars) = cast(type, formula(context.node, inputs));
    return std::vector<Func>{result};
  };
}

Formula Unary(std::function<Expr(Expr)> function) {
  return [function](const NodeView&, const std::vector<Expr>& in) { return function(in[0]); };
}

Formula Binary(std::function<Expr(Expr, Expr)> function) {
  return
      [function](const NodeView&, const std::vector<Expr>& in) { return function(in[0], in[1]); };
}

// Of one or more inputs.
Formula Fold(std::function<Expr(Expr, Expr)> function) {
  return [function](const NodeView&, const std::vector<Expr>& in) {
    Expr result = in[0];
    for (size_t i = 1; i < in.size(); ++i) result = function(result, in[i]);
    return result;
  };
}

Expr Zero(const Expr& like) { return Halide::Internal::make_zero(like.type()); }

Expr Relu(Expr x) { return MaxOf(x, Zero(x)); }

// ONNX follows C, where Halide's own "/" rounds down. What has no result in C (by zero, the lowest number
// by -1) must not trap here: it is 0, and the number itself.
Expr Divide(Expr a, Expr b) {
  if (a.type().is_float()) return a / b;
  const Expr zero = Zero(b);
  const Expr one = Halide::Internal::make_one(b.type());
  const Expr safe = select(b == zero, one, b);
  if (b.type().is_uint()) return select(b == zero, zero, a / safe);
  const Expr quotient = Halide::div_round_to_zero(a, select(b == -one, one, safe));
  return select(b == zero, zero, select(b == -one, -a, quotient));
}

Expr Power(Expr a, Expr b) {
  // Roots and squares are exact this way, and faster.
  if (const double* exponent = Halide::Internal::as_const_float(b)) {
    if (*exponent == 0.5) return Halide::sqrt(a);
    if (*exponent == 2) return a * a;
  }
  return PowOf(a, Halide::cast(a.type(), b));
}

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

struct Row {
  const char* op;
  Types types;
  Formula formula;
};

}  // namespace

absl::Status RegisterElementwiseLowerings(Lowerings& lowerings) {
  const auto add = [](Expr a, Expr b) { return a + b; };
  const auto identity = [](Expr x) { return x; };
  const Row rows[] = {
      {"Abs", Types::kNumber,
       Unary([](Expr x) { return x.type().is_uint() ? x : cast(x.type(), Halide::abs(x)); })},
      {"Add", Types::kNumber, Binary(add)},
      {"Clip", Types::kNumber, Clip},
      {"Div", Types::kNumber, Binary(Divide)},
      {"Elu", Types::kFloat, Elu},
      {"Exp", Types::kFloat, Unary(ExpOf)},
      {"HardSigmoid", Types::kFloat, HardSigmoid},
      {"HardSwish", Types::kFloat, Unary(HardSwish)},
      {"LeakyRelu", Types::kFloat, LeakyRelu},
      {"Log", Types::kFloat, Unary(LogOf)},
      {"Max", Types::kNumber, Fold(MaxOf)},
      {"Min", Types::kNumber, Fold(MinOf)},
      {"Mul", Types::kNumber, Binary([](Expr a, Expr b) { return a * b; })},
      {"Neg", Types::kNumber, Unary([](Expr x) { return -x; })},
      {"Pow", Types::kResult, Binary(Power)},
      {"Relu", Types::kNumber, Unary(Relu)},
      {"Sigmoid", Types::kFloat, Unary(SigmoidOf)},
      {"Sqrt", Types::kFloat, Unary([](Expr x) { return Halide::sqrt(x); })},
      {"Sub", Types::kNumber, Binary([](Expr a, Expr b) { return a - b; })},
      {"Sum", Types::kNumber, Fold(add)},
      {"Tanh", Types::kFloat, Unary(TanhOf)},
      {"Dropout", Types::kNumber, Unary(identity)},
  };
  for (const Row& row : rows) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(row.op, Elementwise(row.types, row.formula)));
  }
  return absl::OkStatus();
}

}  // namespace slipway
