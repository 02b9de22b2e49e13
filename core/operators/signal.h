// Signals: DFT, STFT, HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix, CausalConvWithState.
#ifndef SLIPWAY_CORE_OPERATORS_SIGNAL_H_
#define SLIPWAY_CORE_OPERATORS_SIGNAL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// A transform of `length` numbers along an axis; the last dimension holds real and imaginary parts. What x has beyond
// the length is cut off, what it lacks is 0.
struct DftView {
  int64_t axis = 0;
  Dimension length;
  bool inverse = false;
  bool onesided =
      false;  // Forwards only the first half is made; backwards only that is there, and the result real.
};
// FAILED_PRECONDITION where the axis is not constant.
absl::StatusOr<DftView> DecodeDft(const NodeView& view);

absl::Status RegisterSignalOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_SIGNAL_H_
