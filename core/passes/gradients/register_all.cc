#include "core/passes/gradients/register_all.h"

#include "core/base/check.h"
#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

constexpr OperatorFamily<GradientColumn> kFamilies[] = {
    {"activation", RegisterActivationGradients},
    {"arithmetic", RegisterArithmeticGradients},
    {"control", RegisterControlGradients},
    {"convolution", RegisterConvolutionGradients},
    {"elementwise", RegisterElementwiseGradients},
    {"indexing", RegisterIndexingGradients},
    {"loss", RegisterLossGradients},
    {"matrix", RegisterMatrixGradients},
    {"movement", RegisterMovementGradients},
    {"normalization", RegisterNormalizationGradients},
    {"pooling", RegisterPoolingGradients},
    {"reduction", RegisterReductionGradients},
};

// What does not change with small changes of its inputs.
constexpr const char* kFlat[] = {"And",
                                 "ArgMax",
                                 "ArgMin",
                                 "Ceil",
                                 "ConstantOfShape",
                                 "Equal",
                                 "EyeLike",
                                 "Floor",
                                 "Greater",
                                 "Hardmax",
                                 "GreaterOrEqual",
                                 "IsInf",
                                 "IsNaN",
                                 "Less",
                                 "LessOrEqual",
                                 "NonZero",
                                 "Not",
                                 "Or",
                                 "Round",
                                 "Shape",
                                 "Sign",
                                 "Size",
                                 "Xor"};

void GiveNothing(GradientNode& n) {
  for (int i = 0; i < n.view().num_outputs(); ++i) {
    if (n.flows(i)) n.dy(i);
  }
}

}  // namespace

GradientColumn StandardGradients() {
  GradientColumn column;
  absl::Status added = AddFamilies(kFamilies, column);
  for (const char* op : kFlat) added.Update(column.Add(op, GiveNothing));
  SLIPWAY_CHECK(added.ok(), added.message());
  return column;
}

}  // namespace slipway
