// Arithmetic over broadcast inputs.
#include <functional>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/formula.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::select;

// Of one or more inputs.
Formula Fold(std::function<Expr(Expr, Expr)> function) {
  return [function](const NodeView&, const std::vector<Expr>& in) {
    Expr result = in[0];
    for (size_t i = 1; i < in.size(); ++i) result = function(result, in[i]);
    return result;
  };
}

// ONNX follows C, where the remainder of Halide's own "/" is never negative. (Halide 14's div_round_to_zero divides wrongly by
// most constants of 8, 16 and 32 bits.) What has no result in C (by zero, the lowest number by -1) must not trap here: it is
// 0, and the number itself.
Expr Divide(Expr a, Expr b) {
  if (a.type().is_float()) return Strictly(a / b);
  const Expr zero = Halide::Internal::make_zero(b.type());
  const Expr one = Halide::Internal::make_one(b.type());
  const Expr safe = select(b == zero, one, b);
  if (b.type().is_uint()) return select(b == zero, zero, a / safe);
  const Expr by = select(b == -one, one, safe);
  const Expr towards_zero = select(a < zero && a % by != zero, select(by > zero, one, -one), zero);
  return select(b == zero, zero, select(b == -one, -a, a / by + towards_zero));
}

Expr Power(Expr a, Expr b) {
  b = Halide::cast(a.type(), b);
  // Nearer to the power than what is made by a logarithm, and faster.
  if (const double* exponent = Halide::Internal::as_const_float(b)) {
    if (*exponent == 0.5) {
      // Unlike the root, the power of minus zero is zero, and that of minus infinity infinite.
      return SelectStrictly(a < 0.0f && a == a * 2.0f, -a, Strictly(Halide::sqrt(a) + 0.0f));
    }
    if (*exponent == 1) return a;
    if (*exponent == 2) return Strictly(a * a);
    if (*exponent == 3) return Strictly(a * a * a);
  }
  return PowOf(a, b);
}

}  // namespace

absl::Status RegisterArithmeticLowerings(Lowerings& lowerings) {
  const auto add = [](Expr a, Expr b) { return Strictly(a + b); };
  const FormulaRow rows[] = {
      {"Add", Types::kNumber, Binary(add)},
      {"Div", Types::kNumber, Binary(Divide)},
      {"Max", Types::kNumber, Fold(MaxOf)},
      {"Min", Types::kNumber, Fold(MinOf)},
      {"Mul", Types::kNumber, Binary([](Expr a, Expr b) { return Strictly(a * b); })},
      {"Pow", Types::kResult, Binary(Power)},
      {"Sub", Types::kNumber, Binary([](Expr a, Expr b) { return Strictly(a - b); })},
      {"Sum", Types::kNumber, Fold(add)},
  };
  return AddFormulas(rows, lowerings);
}

}  // namespace slipway
