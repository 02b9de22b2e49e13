// Activations beyond those of elementwise.h: Celu, Gelu, Mish, Selu, Shrink, Softplus, Softsign, Swish, ThresholdedRelu,
// which are of one input, PRelu and SwiGLU.
#ifndef SLIPWAY_CORE_OPERATORS_ACTIVATION_H_
#define SLIPWAY_CORE_OPERATORS_ACTIVATION_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Whether a Gelu is the approximation by tanh.
absl::StatusOr<bool> DecodeGelu(const NodeView& view);

absl::Status RegisterActivationOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_ACTIVATION_H_
