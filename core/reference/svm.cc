#include "core/operators/svm.h"

#include "core/base/status_macros.h"
#include "core/kernels/svm.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

void AddReals(const std::vector<float>& values, KernelParameters& parameters) {
  for (const float value : values) parameters.AddReal(value);
}

void AddMachine(const SvmView& svm, KernelParameters& parameters) {
  parameters.Add(static_cast<int64_t>(svm.kernel));
  parameters.AddReal(svm.gamma);
  parameters.AddReal(svm.offset);
  parameters.AddReal(svm.degree);
  parameters.Add(svm.supports());
  parameters.Add(svm.features);
  AddReals(svm.vectors, parameters);
}

absl::Status Regressor(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const SvmView svm, DecodeSvm(view));
  AddMachine(svm, parameters);
  parameters.Add(svm.one_class);
  parameters.AddReal(svm.rho[0]);
  AddReals(svm.coefficients, parameters);
  return absl::OkStatus();
}

absl::Status Classifier(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const SvmView svm, DecodeSvm(view));
  AddMachine(svm, parameters);
  parameters.Add(std::ssize(svm.labels));
  parameters.Add(!svm.prob_a.empty());
  parameters.Add(svm.logistic);
  for (size_t c = 0; c < svm.labels.size(); ++c) {
    parameters.Add(svm.labels[c]);
    parameters.Add(svm.vectors_per_class[c]);
  }
  for (size_t pair = 0; pair < svm.rho.size(); ++pair) {
    parameters.AddReal(svm.rho[pair]);
    parameters.AddReal(svm.prob_a.empty() ? 0 : svm.prob_a[pair]);
    parameters.AddReal(svm.prob_b.empty() ? 0 : svm.prob_b[pair]);
  }
  AddReals(svm.coefficients, parameters);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterSvmKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("ai.onnx.ml.SVMClassifier",
                  CallableKernel{"slipway_SvmClassifier", slipway_SvmClassifier, Classifier}));
  return kernels.Add("ai.onnx.ml.SVMRegressor",
                     CallableKernel{"slipway_SvmRegressor", slipway_SvmRegressor, Regressor});
}

}  // namespace slipway
