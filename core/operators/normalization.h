// Normalizations: BatchNormalization, GroupNormalization, Hardmax, InstanceNormalization, LayerNormalization, LogSoftmax,
// LpNormalization, LRN, MeanVarianceNormalization, RMSNormalization, Softmax.
#ifndef SLIPWAY_CORE_OPERATORS_NORMALIZATION_H_
#define SLIPWAY_CORE_OPERATORS_NORMALIZATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The axis of a Softmax, LogSoftmax or Hardmax in [0, rank).
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

// The first axis that a LayerNormalization or RMSNormalization takes together, in [0, rank).
absl::StatusOr<int64_t> DecodeLayerNormalization(const NodeView& view);

// Into how many groups a GroupNormalization parts the channels.
absl::StatusOr<int64_t> DecodeGroupNormalization(const NodeView& view);

struct LpNormalizationView {
  int64_t axis = 0;   // In [0, rank).
  int64_t order = 2;  // 1 or 2.
};
absl::StatusOr<LpNormalizationView> DecodeLpNormalization(const NodeView& view);

// The axes of a MeanVarianceNormalization in [0, rank), ascending.
absl::StatusOr<std::vector<int64_t>> DecodeMeanVarianceNormalization(const NodeView& view);

absl::Status RegisterNormalizationOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_NORMALIZATION_H_
