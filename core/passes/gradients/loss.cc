#include "core/operators/loss.h"

#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

// 1 at each sample's class, 0 elsewhere, with what flows back to each sample; nothing where the loss is weighted.
struct Classes {
  ValueId hot = kNoValue;
  ValueId flow = kNoValue;
};

Classes Decode(GradientNode& n) {
  Classes classes;
  const auto loss = DecodeLoss(n.view());
  if (!loss.ok() || n.view().has_input(2) || loss->ignored.has_value()) {
    n.Lack("a loss with weights or with an ignored class");
    return classes;
  }
  const Shape x = n.view().input_shape(0);
  const ValueId values =
      n.Op("Concat", {n.Filled({1}, 0), n.Filled({1}, 1)}, {{"axis", int64_t{0}}});
  classes.hot = n.Op("OneHot", {n.x(1), n.Ints({x[1]}), values}, {{"axis", int64_t{1}}});
  classes.flow = n.dy();
  if (loss->reduction == LossReduction::kNone) {
    classes.flow = n.Op("Unsqueeze", {classes.flow, n.Ints({1})});
  } else if (loss->reduction == LossReduction::kMean) {
    classes.flow =
        n.Times(classes.flow, static_cast<double>(x[1]) / static_cast<double>(NumElements(x)));
  }
  return classes;
}

void NegativeLogLikelihoodGradient(GradientNode& n) {
  const Classes classes = Decode(n);
  n.Give(0, n.Op("Neg", {n.Mul(classes.hot, classes.flow)}));
}

void SoftmaxCrossEntropyGradient(GradientNode& n) {
  const Classes classes = Decode(n);
  const ValueId soft = n.Op("Softmax", {n.x(0)}, {{"axis", int64_t{1}}});
  n.Give(0, n.Mul(n.Minus(soft, classes.hot), classes.flow));
}

constexpr GradientRow kRows[] = {{"NegativeLogLikelihoodLoss", NegativeLogLikelihoodGradient},
                                 {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyGradient}};

}  // namespace

absl::Status RegisterLossGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
