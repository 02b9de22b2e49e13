// Operators that make values out of little: Constant (attributes only), ConstantOfShape, EyeLike, Range.
#ifndef SLIPWAY_CORE_OPERATORS_CONSTANTS_H_
#define SLIPWAY_CORE_OPERATORS_CONSTANTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// What a Constant node makes.
absl::StatusOr<Tensor> DecodeConstant(const NodeView& view);

// The one element, of shape [1], that fills the output of a ConstantOfShape.
absl::StatusOr<Tensor> DecodeConstantOfShape(const NodeView& view);

absl::Status RegisterConstantsOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CONSTANTS_H_
