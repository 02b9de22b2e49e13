#include "core/operators/reduction.h"

#include <vector>

#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

struct Reduced {
  std::vector<int64_t> axes;
  ValueId y = kNoValue;   // With the reduced dimensions kept as 1.
  ValueId dy = kNoValue;  // The same.
  double count = 1;       // Elements that became one.
};

Reduced Decode(GradientNode& n) {
  Reduced reduced;
  const auto view = DecodeReduce(n.view());
  if (!view.ok()) {
    n.Lack(view.status().message());
    return reduced;
  }
  reduced.axes = view->axes;
  Shape kept = n.view().input_shape(0);
  for (const int64_t axis : view->axes) {
    reduced.count *= static_cast<double>(kept[axis]);
    kept[axis] = 1;
  }
  reduced.y = n.ReshapeTo(n.y(), kept);
  reduced.dy = n.ReshapeTo(n.dy(), kept);
  return reduced;
}

void SumGradient(GradientNode& n) { n.Give(0, Decode(n).dy); }

void MeanGradient(GradientNode& n) {
  const Reduced r = Decode(n);
  n.Give(0, n.Times(r.dy, 1 / r.count));
}

void ExtremeGradient(GradientNode& n) {
  const Reduced r = Decode(n);
  const ValueId mask = n.Mask(n.Op("Equal", {n.x(0), r.y}));
  n.Give(0, n.Mul(mask, n.Div(r.dy, n.Reduce("ReduceSum", mask, r.axes))));
}

void ProdGradient(GradientNode& n) {
  const Reduced r = Decode(n);
  n.Give(0, n.Div(n.Mul(r.dy, r.y), n.x(0)));
}

void L1Gradient(GradientNode& n) { n.Give(0, n.Mul(Decode(n).dy, n.Op("Sign", {n.x(0)}))); }

void L2Gradient(GradientNode& n) {
  const Reduced r = Decode(n);
  n.Give(0, n.Mul(n.x(0), n.Div(r.dy, r.y)));
}

void LogSumGradient(GradientNode& n) {
  const Reduced r = Decode(n);
  n.Give(0, n.Div(r.dy, n.Op("Exp", {r.y})));
}

void LogSumExpGradient(GradientNode& n) {
  const Reduced r = Decode(n);
  n.Give(0, n.Mul(r.dy, n.Op("Exp", {n.Minus(n.x(0), r.y)})));
}

void SumSquareGradient(GradientNode& n) { n.Give(0, n.Mul(n.Times(n.x(0), 2), Decode(n).dy)); }

void CumSumGradient(GradientNode& n) {
  n.Give(0, n.Op("CumSum", {n.dy(), n.x(1)},
                 {{"exclusive", n.view().Int("exclusive")},
                  {"reverse", int64_t{n.view().Int("reverse") == 0}}}));
}

constexpr GradientRow kRows[] = {
    {"CumSum", CumSumGradient},
    {"ReduceL1", L1Gradient},
    {"ReduceL2", L2Gradient},
    {"ReduceLogSum", LogSumGradient},
    {"ReduceLogSumExp", LogSumExpGradient},
    {"ReduceMax", ExtremeGradient},
    {"ReduceMean", MeanGradient},
    {"ReduceMin", ExtremeGradient},
    {"ReduceProd", ProdGradient},
    {"ReduceSum", SumGradient},
    {"ReduceSumSquare", SumSquareGradient},
};

}  // namespace

absl::Status RegisterReductionGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
