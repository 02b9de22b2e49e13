// Comparisons and what is true or false: Equal, Greater, GreaterOrEqual, Less, LessOrEqual, And, Or, Xor, Not, IsNaN,
// IsInf, and Where, which chooses by it. All but Not, IsNaN and IsInf broadcast.
#ifndef SLIPWAY_CORE_OPERATORS_LOGIC_H_
#define SLIPWAY_CORE_OPERATORS_LOGIC_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

absl::Status RegisterLogicOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_LOGIC_H_
