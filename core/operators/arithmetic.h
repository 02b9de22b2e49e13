// Operators on several broadcast inputs: Add, Sub, Mul, Div, Mod, Pow (two), Sum, Mean, Min, Max (any number).
// Integer Div truncates towards zero, as in C++.
#ifndef SLIPWAY_CORE_OPERATORS_ARITHMETIC_H_
#define SLIPWAY_CORE_OPERATORS_ARITHMETIC_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

absl::Status RegisterArithmeticOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_ARITHMETIC_H_
