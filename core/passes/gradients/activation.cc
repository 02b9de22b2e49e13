#include <cmath>

#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

ValueId Positive(GradientNode& n) { return n.Op("Greater", {n.x(0), n.Number(0)}); }
ValueId SigmoidOf(GradientNode& n, ValueId v) { return n.Op("Sigmoid", {v}); }
void GiveSlope(GradientNode& n, ValueId slope) { n.Give(0, n.Mul(n.dy(), slope)); }

void CeluGradient(GradientNode& n) {
  const ValueId below = n.Op("Exp", {n.Times(n.x(0), 1 / n.view().Float("alpha"))});
  GiveSlope(n, n.Op("Where", {Positive(n), n.Number(1), below}));
}

void GeluGradient(GradientNode& n) {
  const ValueId x = n.x(0);
  const ValueId square = n.Mul(x, x);
  if (n.view().String("approximate") == "tanh") {
    const double c = std::sqrt(2 / M_PI);
    const ValueId t =
        n.Op("Tanh", {n.Times(n.Mul(x, n.Plus(n.Times(square, 0.044715), n.Number(1))), c)});
    const ValueId inner = n.Times(n.Plus(n.Times(square, 3 * 0.044715), n.Number(1)), c);
    const ValueId bend = n.Mul(n.Mul(x, n.Minus(n.Number(1), n.Mul(t, t))), inner);
    return GiveSlope(n, n.Times(n.Plus(n.Plus(t, n.Number(1)), bend), 0.5));
  }
  const ValueId share = n.Times(n.Plus(n.Op("Erf", {n.Times(x, M_SQRT1_2)}), n.Number(1)), 0.5);
  const ValueId bell = n.Times(n.Op("Exp", {n.Times(square, -0.5)}), 1 / std::sqrt(2 * M_PI));
  GiveSlope(n, n.Plus(share, n.Mul(x, bell)));
}

// x * tanh(softplus(x))
void MishGradient(GradientNode& n) {
  const ValueId t = n.Op("Tanh", {n.Op("Softplus", {n.x(0)})});
  const ValueId bend = n.Mul(n.Minus(n.Number(1), n.Mul(t, t)), SigmoidOf(n, n.x(0)));
  GiveSlope(n, n.Plus(t, n.Mul(n.x(0), bend)));
}

void PReluGradient(GradientNode& n) {
  const ValueId dy = n.dy();
  if (n.wants(0)) n.Give(0, n.Op("Where", {Positive(n), dy, n.Mul(dy, n.x(1))}));
  if (n.wants(1)) n.Give(1, n.Mul(dy, n.Op("Where", {Positive(n), n.Number(0), n.x(0)})));
}

// Below 0 y is gamma * alpha * (exp(x) - 1).
void SeluGradient(GradientNode& n) {
  const double gamma = n.view().Float("gamma");
  const ValueId below = n.Plus(n.y(), n.Number(gamma * n.view().Float("alpha")));
  GiveSlope(n, n.Op("Where", {Positive(n), n.Number(gamma), below}));
}

void ShrinkGradient(GradientNode& n) {
  const ValueId bound = n.Number(n.view().Float("lambd"));
  GiveSlope(n, n.Mask(n.Op("Greater", {n.Op("Abs", {n.x(0)}), bound})));
}

void SoftplusGradient(GradientNode& n) { GiveSlope(n, SigmoidOf(n, n.x(0))); }

void SoftsignGradient(GradientNode& n) {
  const ValueId one = n.Plus(n.Op("Abs", {n.x(0)}), n.Number(1));
  n.Give(0, n.Div(n.dy(), n.Mul(one, one)));
}

// x * sigmoid(alpha * x)
void SwishGradient(GradientNode& n) {
  const double alpha = n.view().Float("alpha");
  const ValueId s = SigmoidOf(n, n.Times(n.x(0), alpha));
  const ValueId bend = n.Times(n.Mul(n.y(), n.Minus(n.Number(1), s)), alpha);
  GiveSlope(n, n.Plus(s, bend));
}

void ThresholdedReluGradient(GradientNode& n) {
  GiveSlope(n, n.Mask(n.Op("Greater", {n.x(0), n.Number(n.view().Float("alpha"))})));
}

constexpr GradientRow kRows[] = {
    {"Celu", CeluGradient},         {"Gelu", GeluGradient},
    {"Mish", MishGradient},         {"PRelu", PReluGradient},
    {"Selu", SeluGradient},         {"Shrink", ShrinkGradient},
    {"Softplus", SoftplusGradient}, {"Softsign", SoftsignGradient},
    {"Swish", SwishGradient},       {"ThresholdedRelu", ThresholdedReluGradient},
};

}  // namespace

absl::Status RegisterActivationGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
