// The families of gradient rules, one file each, with the stems of core/operators. Private to this folder.
#ifndef SLIPWAY_CORE_PASSES_GRADIENTS_FAMILIES_H_
#define SLIPWAY_CORE_PASSES_GRADIENTS_FAMILIES_H_

#include "absl/status/status.h"
#include "core/passes/gradients/gradient_node.h"

namespace slipway {

struct GradientRow {
  const char* op;
  GradientRule rule;
};

template <typename Rows>
absl::Status AddRows(const Rows& rows, GradientColumn& column) {
  for (const GradientRow& row : rows) {
    const absl::Status added = column.Add(row.op, row.rule);
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

absl::Status RegisterActivationGradients(GradientColumn& column);
absl::Status RegisterArithmeticGradients(GradientColumn& column);
absl::Status RegisterControlGradients(GradientColumn& column);
absl::Status RegisterConvolutionGradients(GradientColumn& column);
absl::Status RegisterElementwiseGradients(GradientColumn& column);
absl::Status RegisterIndexingGradients(GradientColumn& column);
absl::Status RegisterLossGradients(GradientColumn& column);
absl::Status RegisterMatrixGradients(GradientColumn& column);
absl::Status RegisterMovementGradients(GradientColumn& column);
absl::Status RegisterNormalizationGradients(GradientColumn& column);
absl::Status RegisterPoolingGradients(GradientColumn& column);
absl::Status RegisterReductionGradients(GradientColumn& column);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_GRADIENTS_FAMILIES_H_
