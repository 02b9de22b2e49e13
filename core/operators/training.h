// Steps of optimizers, of ONNX's domain ai.onnx.preview.training: Adagrad, Adam, Momentum.
//
// Inputs: learning rate, number of steps done before, then of n tensors first all values, then all gradients, then all of
// each state. Outputs: n new values, then n of each state.
#ifndef SLIPWAY_CORE_OPERATORS_TRAINING_H_
#define SLIPWAY_CORE_OPERATORS_TRAINING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Whether a Momentum is Nesterov's. INVALID_ARGUMENT for a mode that is not known.
absl::StatusOr<bool> DecodeNesterov(const NodeView& view);

absl::Status RegisterTrainingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_TRAINING_H_
