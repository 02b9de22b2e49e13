// Normalizations: BatchNormalization (as in inference), LRN, Softmax.
#ifndef SLIPWAY_CORE_OPERATORS_NORMALIZATION_H_
#define SLIPWAY_CORE_OPERATORS_NORMALIZATION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The axis of a Softmax in [0, rank).
absl::StatusOr<int64_t> DecodeSoftmax(const NodeView& view);

// Across channels (dimension 1): y = x / (bias + alpha / size * sum of squares over `size` channels
// from c - (size - 1) / 2 on) ^ beta.
struct LrnView {
  float alpha = 0.0001f;
  float beta = 0.75f;
  float bias = 1;
  int64_t size = 0;
};
absl::StatusOr<LrnView> DecodeLrn(const NodeView& view);

absl::Status RegisterNormalizationOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_NORMALIZATION_H_
