// Losses: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#ifndef SLIPWAY_CORE_OPERATORS_LOSS_H_
#define SLIPWAY_CORE_OPERATORS_LOSS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// What becomes of the losses of all samples; the mean is weighted.
enum class LossReduction { kNone = 0, kSum = 1, kMean = 2 };

struct LossView {
  LossReduction reduction = LossReduction::kMean;
  std::optional<int64_t> ignored;  // Samples of this class do not count.
};
absl::StatusOr<LossView> DecodeLoss(const NodeView& view);

absl::Status RegisterLossOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_LOSS_H_
