// Operators of detectors: NonMaxSuppression. How many boxes it keeps, no type rule says.
#ifndef SLIPWAY_CORE_OPERATORS_DETECTION_H_
#define SLIPWAY_CORE_OPERATORS_DETECTION_H_

#include "absl/status/status.h"
#include "core/graph/operator_registry.h"

namespace slipway {

absl::Status RegisterDetectionOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_DETECTION_H_
