// Unary operators, element by element: Relu, LeakyRelu, Elu, Sigmoid, HardSigmoid, HardSwish; Exp, Log, Sqrt, Erf,
// Reciprocal, Sin, Sinh and their kin; Ceil, Floor, Round; Neg, Abs, Sign, Identity, Dropout (as in inference: the
// identity), and Clip, whose bounds are optional scalar inputs 1 and 2.
#ifndef SLIPWAY_CORE_OPERATORS_ELEMENTWISE_H_
#define SLIPWAY_CORE_OPERATORS_ELEMENTWISE_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

absl::Status RegisterElementwiseOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_ELEMENTWISE_H_
