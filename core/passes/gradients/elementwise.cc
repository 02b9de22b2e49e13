#include <cmath>

#include "core/operators/reshaping.h"
#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

// 1 - v
ValueId OneMinus(GradientNode& n, ValueId v) { return n.Minus(n.Number(1), v); }
ValueId OnePlus(GradientNode& n, ValueId v) { return n.Plus(v, n.Number(1)); }
ValueId Square(GradientNode& n, ValueId v) { return n.Mul(v, v); }
// The gradient is dy times what `slope` makes of the node.
template <ValueId (*slope)(GradientNode&)>
void Times(GradientNode& n) {
  n.Give(0, n.Mul(n.dy(), slope(n)));
}
// The gradient is dy divided by what `under` makes of the node.
template <ValueId (*under)(GradientNode&)>
void Over(GradientNode& n) {
  n.Give(0, n.Div(n.dy(), under(n)));
}

ValueId Sigmoid(GradientNode& n) { return n.Mul(n.y(), OneMinus(n, n.y())); }
ValueId Tanh(GradientNode& n) { return OneMinus(n, Square(n, n.y())); }
ValueId Exp(GradientNode& n) { return n.y(); }
ValueId Log(GradientNode& n) { return n.x(0); }
ValueId Sqrt(GradientNode& n) { return n.Times(n.y(), 2); }
ValueId Abs(GradientNode& n) { return n.Op("Sign", {n.x(0)}); }
ValueId Cos(GradientNode& n) { return n.Op("Neg", {n.Op("Sin", {n.x(0)})}); }
ValueId Sin(GradientNode& n) { return n.Op("Cos", {n.x(0)}); }
ValueId Tan(GradientNode& n) { return OnePlus(n, Square(n, n.y())); }
ValueId Cosh(GradientNode& n) { return n.Op("Sinh", {n.x(0)}); }
ValueId Sinh(GradientNode& n) { return n.Op("Cosh", {n.x(0)}); }
ValueId Asin(GradientNode& n) { return n.Op("Sqrt", {OneMinus(n, Square(n, n.x(0)))}); }
ValueId Acos(GradientNode& n) { return n.Op("Neg", {Asin(n)}); }
ValueId Atan(GradientNode& n) { return OnePlus(n, Square(n, n.x(0))); }
ValueId Asinh(GradientNode& n) { return n.Op("Sqrt", {OnePlus(n, Square(n, n.x(0)))}); }
ValueId Acosh(GradientNode& n) { return n.Op("Sqrt", {n.Minus(Square(n, n.x(0)), n.Number(1))}); }
ValueId Atanh(GradientNode& n) { return OneMinus(n, Square(n, n.x(0))); }
ValueId Reciprocal(GradientNode& n) { return n.Op("Neg", {Square(n, n.y())}); }
ValueId Erf(GradientNode& n) {
  const ValueId bell = n.Op("Exp", {n.Op("Neg", {Square(n, n.x(0))})});
  return n.Times(bell, 2 / std::sqrt(M_PI));
}
ValueId Relu(GradientNode& n) { return n.Mask(n.Op("Greater", {n.x(0), n.Number(0)})); }

// `inside` where the input lies between the two, else 0; `low` and below 0.
ValueId Between(GradientNode& n, double low, double high) {
  return n.Mul(n.Mask(n.Op("Greater", {n.x(0), n.Number(low)})),
               n.Mask(n.Op("Less", {n.x(0), n.Number(high)})));
}
ValueId HardSigmoid(GradientNode& n) {
  const double alpha = n.view().Float("alpha");
  const double beta = n.view().Float("beta");
  if (alpha == 0) return n.Number(0);
  return n.Times(Between(n, -beta / alpha, (1 - beta) / alpha), alpha);
}
// x * clip(x / 6 + 1/2, 0, 1)
ValueId HardSwish(GradientNode& n) {
  const ValueId inner = n.Mul(Between(n, -3, 3), n.Plus(n.Times(n.x(0), 1.0 / 3), n.Number(0.5)));
  return n.Plus(inner, n.Mask(n.Op("GreaterOrEqual", {n.x(0), n.Number(3)})));
}
ValueId LeakyRelu(GradientNode& n) {
  const double alpha = n.view().Float("alpha");
  return n.Plus(n.Times(Relu(n), 1 - alpha), n.Number(alpha));
}
// Below 0 y is alpha * (exp(x) - 1).
ValueId Elu(GradientNode& n) {
  const ValueId below = n.Plus(n.y(), n.Number(n.view().Float("alpha")));
  return n.Op("Where", {n.Op("Greater", {n.x(0), n.Number(0)}), n.Number(1), below});
}

void NegGradient(GradientNode& n) { n.Give(0, n.Op("Neg", {n.dy()})); }
void PassOn(GradientNode& n) { n.Give(0, n.dy()); }

void ClipGradient(GradientNode& n) {
  n.Give(0, n.Mul(n.dy(), n.Mask(n.Op("Equal", {n.x(0), n.y()}))));
  for (const int bound : {1, 2}) {
    if (!n.wants(bound)) continue;
    const ValueId beyond = n.Op(bound == 1 ? "Less" : "Greater", {n.x(0), n.x(bound)});
    n.Give(bound, n.Mul(n.dy(), n.Mask(beyond)));
  }
}

void CastGradient(GradientNode& n) {
  const auto to_float = [](DataType dtype) {
    return dtype == DataType::kFloat32 || dtype == DataType::kFloat64 ||
           dtype == DataType::kFloat16 || dtype == DataType::kBfloat16;
  };
  if (!to_float(static_cast<DataType>(n.view().Int("to")))) return;
  const int64_t from = static_cast<int64_t>(n.view().input_type(0).dtype());
  n.Give(0, n.Op("Cast", {n.dy()}, {{"to", from}}));
}

void WhereGradient(GradientNode& n) {
  for (const int i : {1, 2}) {
    if (!n.wants(i)) continue;
    const ValueId none = n.Minus(n.dy(), n.dy());
    n.Give(i, n.Op("Where", i == 1 ? std::vector<ValueId>{n.x(0), n.dy(), none}
                                   : std::vector<ValueId>{n.x(0), none, n.dy()}));
  }
}

constexpr GradientRow kRows[] = {
    {"Abs", Times<Abs>},
    {"Acos", Over<Acos>},
    {"Acosh", Over<Acosh>},
    {"Asin", Over<Asin>},
    {"Asinh", Over<Asinh>},
    {"Atan", Over<Atan>},
    {"Atanh", Over<Atanh>},
    {"Cast", CastGradient},
    {"Clip", ClipGradient},
    {"Cos", Times<Cos>},
    {"Cosh", Times<Cosh>},
    {"Dropout", PassOn},
    {"Elu", Times<Elu>},
    {"Erf", Times<Erf>},
    {"Exp", Times<Exp>},
    {"HardSigmoid", Times<HardSigmoid>},
    {"HardSwish", Times<HardSwish>},
    {"Identity", PassOn},
    {"LeakyRelu", Times<LeakyRelu>},
    {"Log", Over<Log>},
    {"Neg", NegGradient},
    {"Reciprocal", Times<Reciprocal>},
    {"Relu", Times<Relu>},
    {"Sigmoid", Times<Sigmoid>},
    {"Sin", Times<Sin>},
    {"Sinh", Times<Sinh>},
    {"Sqrt", Over<Sqrt>},
    {"Tan", Times<Tan>},
    {"Tanh", Times<Tanh>},
    {"Where", WhereGradient},
    {kAgainOperator, PassOn},
};

}  // namespace

absl::Status RegisterElementwiseGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
