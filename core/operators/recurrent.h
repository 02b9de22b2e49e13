// Recurrent networks: RNN, GRU, LSTM.
#ifndef SLIPWAY_CORE_OPERATORS_RECURRENT_H_
#define SLIPWAY_CORE_OPERATORS_RECURRENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The functions of one number that a network may apply.
enum class ActivationKind {
  kAffine = 0,  // alpha * x + beta
  kElu,
  kHardSigmoid,
  kLeakyRelu,
  kRelu,
  kScaledTanh,  // alpha * tanh(beta * x)
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,
};
struct Activation {
  ActivationKind kind = ActivationKind::kTanh;
  double alpha = 0;
  double beta = 0;
};

struct RecurrentView {
  bool batch_first = false;  // "layout" 1: the batch is the first dimension of all but the weights.
  std::vector<bool> reverse;            // One a direction.
  std::vector<Activation> activations;  // Of each direction one after the other: 1, 2 or 3.
  std::optional<double> clip;           // What activations take is kept in [-clip, clip].
  // GRU: "linear_before_reset"; LSTM: "input_forget".
  bool option = false;
};
absl::StatusOr<RecurrentView> DecodeRecurrent(const NodeView& view);

absl::Status RegisterRecurrentOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_RECURRENT_H_
