// Sums of products over labelled dimensions, and determinants: Einsum, Det.
#ifndef SLIPWAY_CORE_OPERATORS_CONTRACTION_H_
#define SLIPWAY_CORE_OPERATORS_CONTRACTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// An equation: every dimension of an operand has a label, a number from 0 on. Labels of the output come first and in its
// order; over the others is summed.
struct EinsumView {
  std::vector<std::vector<int64_t>> inputs;  // A label for each dimension.
  int64_t output_rank = 0;
  Dimensions extents;  // By label.
};
absl::StatusOr<EinsumView> DecodeEinsum(const NodeView& view);

absl::Status RegisterContractionOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CONTRACTION_H_
