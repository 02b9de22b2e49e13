#include <vector>

#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

void AddGradient(GradientNode& n) {
  for (int i = 0; i < n.view().num_inputs(); ++i) n.Give(i, n.dy());
}

void SubGradient(GradientNode& n) {
  n.Give(0, n.dy());
  if (n.wants(1)) n.Give(1, n.Op("Neg", {n.dy()}));
}

void MulGradient(GradientNode& n) {
  if (n.wants(0)) n.Give(0, n.Mul(n.dy(), n.x(1)));
  if (n.wants(1)) n.Give(1, n.Mul(n.dy(), n.x(0)));
}

void DivGradient(GradientNode& n) {
  const ValueId over = n.Div(n.dy(), n.x(1));
  n.Give(0, over);
  if (n.wants(1)) n.Give(1, n.Op("Neg", {n.Mul(over, n.y())}));
}

void MeanGradient(GradientNode& n) {
  const ValueId part = n.Times(n.dy(), 1.0 / n.view().num_inputs());
  for (int i = 0; i < n.view().num_inputs(); ++i) n.Give(i, part);
}

// Where several inputs are the extreme, each has its share.
void ExtremeGradient(GradientNode& n) {
  std::vector<ValueId> masks;
  ValueId ties = kNoValue;
  for (int i = 0; i < n.view().num_inputs(); ++i) {
    masks.push_back(n.Mask(n.Op("Equal", {n.x(i), n.y()})));
    ties = ties == kNoValue ? masks[i] : n.Plus(ties, masks[i]);
  }
  const ValueId share = n.Div(n.dy(), ties);
  for (int i = 0; i < n.view().num_inputs(); ++i) {
    if (n.wants(i)) n.Give(i, n.Mul(share, masks[i]));
  }
}

void PowGradient(GradientNode& n) {
  if (n.view().input_type(0).dtype() != n.view().input_type(1).dtype()) {
    return n.Lack("base and exponent of different types");
  }
  if (n.wants(0)) {
    const ValueId less = n.Op("Pow", {n.x(0), n.Minus(n.x(1), n.Number(1))});
    n.Give(0, n.Mul(n.dy(), n.Mul(n.x(1), less)));
  }
  if (n.wants(1)) n.Give(1, n.Mul(n.dy(), n.Mul(n.y(), n.Op("Log", {n.x(0)}))));
}

// x0 - q * x1 with a whole number q that stays while the inputs change little.
void ModGradient(GradientNode& n) {
  n.Give(0, n.dy());
  if (n.wants(1)) n.Give(1, n.Mul(n.dy(), n.Div(n.Minus(n.y(), n.x(0)), n.x(1))));
}

constexpr GradientRow kRows[] = {
    {"Add", AddGradient},   {"Div", DivGradient},     {"Max", ExtremeGradient},
    {"Mean", MeanGradient}, {"Min", ExtremeGradient}, {"Mod", ModGradient},
    {"Mul", MulGradient},   {"Pow", PowGradient},     {"Sub", SubGradient},
    {"Sum", AddGradient},
};

}  // namespace

absl::Status RegisterArithmeticGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
