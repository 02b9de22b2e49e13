// Steps of optimizers, of ONNX's domain ai.onnx.preview.training: Adagrad, Adam, Momentum.
//
// Inputs: learning rate, number of steps done before, then of n tensors first all values, then all gradients, then all of
// each state. Outputs: n new values, then n of each state.
//
// slipway.Gradient is the gradient of what its body makes, one value, by the body's first inputs, of that value's sum where it
// is no single number. Nothing computes it as it is: the pass ExpandGradients writes it with other operators.
#ifndef SLIPWAY_CORE_OPERATORS_TRAINING_H_
#define SLIPWAY_CORE_OPERATORS_TRAINING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

inline constexpr char kGradientOperator[] = "slipway.Gradient";
inline constexpr char kGradientBody[] = "body";
// An attribute: by how many inputs is derived, the body's and the node's. The gradients are the node's outputs, which may
// leave out the last.
inline constexpr char kDerivedInputs[] = "derived_inputs";

// Whether a Momentum is Nesterov's. INVALID_ARGUMENT for a mode that is not known.
absl::StatusOr<bool> DecodeNesterov(const NodeView& view);

absl::Status RegisterTrainingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_TRAINING_H_
