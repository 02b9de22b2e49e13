// Recurrent networks: RNN, GRU, LSTM, and the steps of each where the input's products are made already: slipway.RNNSteps,
// slipway.GRUSteps, slipway.LSTMSteps.
//
// Steps are of f32 and have the attributes and the outputs of their network. A gate has `room` numbers, the hidden ones and
// what fills them up to a multiple of kGateBlock. Inputs:
//   sums [steps, batch, directions * gates * room]: x * W^T and the biases (layout 1: the batch first);
//   r [directions, ceil(gates * room / n), hidden, n]: the columns of R^T, filled up with zeros, in panels of n, kStatePanel;
//   the state's bias of the last gate [directions, room], of a GRU whose reset gate applies behind the product, only there;
//   the network's inputs from lengths on; peepholes are [directions, 3 * room].
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

inline constexpr int64_t kGateBlock = 16;
inline constexpr int64_t kStatePanel = 32;

struct RecurrentView {
  int gates = 0;
  bool batch_first = false;  // "layout" 1: the batch is the first dimension of all but the weights.
  std::vector<bool> reverse;            // One a direction.
  std::vector<Activation> activations;  // Of each direction one after the other: 1, 2 or 3.
  std::optional<double> clip;           // What activations take is kept in [-clip, clip].
  // GRU: "linear_before_reset"; LSTM: "input_forget".
  bool option = false;
};
absl::StatusOr<RecurrentView> DecodeRecurrent(const NodeView& view);

Dimension RoomOfGate(const Dimension& hidden);

absl::Status RegisterRecurrentOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_RECURRENT_H_
