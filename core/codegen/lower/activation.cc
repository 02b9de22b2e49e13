// Activations of one input, PRelu and SwiGLU.

#include <vector>

#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/formula.h"

namespace slipway {
namespace {

using Halide::Expr;

// By the error function and by its approximation with tanh: 1 + tanh(z) is 2 / (1 + e^-2z).
Expr ExactGelu(Expr x) { return x * (0.5f + 0.5f * ErfOf(x * 0.70710678f)); }
Expr TanhGelu(Expr x) { return x * SigmoidOf(x * (1.59576912f + 0.0713548163f * x * x)); }

// The formula is chosen by an attribute that the type rule has checked.
Expr Gelu(const NodeView& node, const std::vector<Expr>& in) {
  return node.String("approximate") == "tanh" ? TanhGelu(in[0]) : ExactGelu(in[0]);
}

Expr Celu(const NodeView& node, const std::vector<Expr>& in) {
  const float alpha = node.Float("alpha");
  return SelectStrictly(in[0] > 0.0f, in[0], ExpLessOneOf(in[0] / alpha) * alpha);
}

Expr Selu(const NodeView& node, const std::vector<Expr>& in) {
  const Expr below = ExpLessOneOf(in[0]) * node.Float("alpha");
  return SelectStrictly(in[0] > 0.0f, in[0], below) * node.Float("gamma");
}

// tanh(ln(1 + e^x)) is n / (n + 2) with n = e^x (e^x + 2); beyond 20 it is 1.
Expr Mish(Expr x) {
  const Expr e = ExpOf(Halide::min(x, 20.0f));
  const Expr n = e * (e + 2.0f);
  return SelectStrictly(IsNan(x), x, x * (n / (n + 2.0f)));
}

Expr PRelu(Expr x, Expr slope) {
  return SelectStrictly(x < Halide::Internal::make_zero(x.type()), x * slope, x);
}

Expr Shrink(const NodeView& node, const std::vector<Expr>& in) {
  const Expr x = in[0];
  const float bias = node.Float("bias");
  const float lambd = node.Float("lambd");
  const Expr between = SelectStrictly(IsNan(x), x, 0.0f);
  return SelectStrictly(x < -lambd, x + bias, SelectStrictly(x > lambd, x - bias, between));
}

Expr Swish(const NodeView& node, const std::vector<Expr>& in) {
  return in[0] * SigmoidOf(in[0] * node.Float("alpha"));
}

Expr SwiGlu(const NodeView& node, const std::vector<Expr>& in) { return Swish(node, in) * in[1]; }

Expr ThresholdedRelu(const NodeView& node, const std::vector<Expr>& in) {
  const Expr otherwise = SelectStrictly(IsNan(in[0]), in[0], 0.0f);
  return SelectStrictly(in[0] > node.Float("alpha"), in[0], otherwise);
}

}  // namespace

absl::Status RegisterActivationLowerings(Lowerings& lowerings) {
  const FormulaRow rows[] = {
      {"Celu", Types::kFloat, Celu},
      {"Gelu", Types::kFloat, Gelu},
      {"Mish", Types::kFloat, Unary(Mish)},
      {"PRelu", Types::kNumber, Binary(PRelu)},
      {"Selu", Types::kFloat, Selu},
      {"Shrink", Types::kFloat, Shrink},
      {"Softplus", Types::kFloat, Unary(LogOfOneAndExpOf)},
      {"Softsign", Types::kFloat, Unary([](Expr x) { return x / (1.0f + Halide::abs(x)); })},
      {"SwiGLU", Types::kFloat, SwiGlu},
      {"Swish", Types::kFloat, Swish},
      {"ThresholdedRelu", Types::kFloat, ThresholdedRelu},
  };
  return AddFormulas(rows, lowerings);
}

}  // namespace slipway
