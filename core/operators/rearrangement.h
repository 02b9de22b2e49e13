// Operators that repeat, reverse, cut or blank out parts of a tensor: Tile, Trilu, ReverseSequence, CenterCropPad.
#ifndef SLIPWAY_CORE_OPERATORS_REARRANGEMENT_H_
#define SLIPWAY_CORE_OPERATORS_REARRANGEMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// ReverseSequence's axes: 0 and 1, or 1 and 0.
// The axes that a CenterCropPad's shape speaks of, in its order.
absl::StatusOr<std::vector<int64_t>> DecodeCenterCropPad(const NodeView& view);

struct ReverseSequenceView {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
};
absl::StatusOr<ReverseSequenceView> DecodeReverseSequence(const NodeView& view);

absl::Status RegisterRearrangementOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_REARRANGEMENT_H_
