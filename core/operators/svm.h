// Support vector machines of the domain ai.onnx.ml: SVMClassifier, SVMRegressor. With numbers for labels.
#ifndef SLIPWAY_CORE_OPERATORS_SVM_H_
#define SLIPWAY_CORE_OPERATORS_SVM_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// How alike a row and a support vector are.
enum class SvmKernel { kLinear = 0, kPolynomial = 1, kRadial = 2, kSigmoid = 3 };

struct SvmView {
  SvmKernel kernel = SvmKernel::kLinear;
  double gamma = 0;
  double offset = 0;
  double degree = 0;
  int64_t features = 0;
  std::vector<float> vectors;       // [supports, features]
  std::vector<float> coefficients;  // Regressor: [supports]; classifier: [classes - 1, supports]
  std::vector<float> rho;           // Regressor: one; classifier: one a pair of classes

  bool one_class = false;  // Regressor: the result is 1 or -1.

  // Classifier.
  std::vector<int64_t> labels;
  std::vector<int64_t> vectors_per_class;
  std::vector<float> prob_a;  // One a pair of classes, or empty: scores are those of pairs.
  std::vector<float> prob_b;
  bool logistic = false;

  int64_t supports() const { return features == 0 ? 0 : std::ssize(vectors) / features; }
};
absl::StatusOr<SvmView> DecodeSvm(const NodeView& view);

absl::Status RegisterSvmOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_SVM_H_
