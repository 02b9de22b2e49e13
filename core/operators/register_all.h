// The list of all operators, by families.
#ifndef SLIPWAY_CORE_OPERATORS_REGISTER_ALL_H_
#define SLIPWAY_CORE_OPERATORS_REGISTER_ALL_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The families, sorted by name.
absl::Span<const OperatorFamily<OperatorRegistry>> OperatorFamilies();

// Adds every operator of this folder. ALREADY_EXISTS when one is there.
absl::Status RegisterAllOperators(OperatorRegistry& registry);

// A fresh registry with these operators, to be extended or kept for the life of a process.
OperatorRegistry StandardOperators();

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_REGISTER_ALL_H_
