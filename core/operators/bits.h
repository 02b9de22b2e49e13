// Operators on the bits of elements: BitwiseAnd, BitwiseOr, BitwiseXor, BitShift, which broadcast, BitwiseNot and BitCast.
#ifndef SLIPWAY_CORE_OPERATORS_BITS_H_
#define SLIPWAY_CORE_OPERATORS_BITS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Whether a BitShift goes to the right.
absl::StatusOr<bool> DecodeBitShift(const NodeView& view);

absl::Status RegisterBitsOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_BITS_H_
