// The list of all operators: one Register function a family.
#ifndef SLIPWAY_CORE_OPERATORS_REGISTER_ALL_H_
#define SLIPWAY_CORE_OPERATORS_REGISTER_ALL_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Adds every operator of this folder. ALREADY_EXISTS when one is there.
absl::Status RegisterAllOperators(OperatorRegistry& registry);

// A fresh registry with these operators, to be extended or kept for the life of a process.
OperatorRegistry StandardOperators();

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_REGISTER_ALL_H_
