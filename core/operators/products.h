// Products: how many multiplications an operator makes, by its extents. Facts of the operator, whatever computes it; the one
// place that counts them.
#ifndef SLIPWAY_CORE_OPERATORS_PRODUCTS_H_
#define SLIPWAY_CORE_OPERATORS_PRODUCTS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/operator_registry.h"
#include "core/graph/value_type.h"

namespace slipway {

// Whether the operator is a convolution, a product of matrices, attention or a recurrent layer: whether numbers meet weights
// in it.
bool MakesProducts(absl::string_view op);

// Multiplications and additions of products, as the model's operator has them: two for each number that meets a weight,
// however that is computed. 0 of an operator that makes none; INT64_MAX is more than can be counted. `outputs` are the types
// of the node's outputs. UNIMPLEMENTED where extents that count are open. REQUIRES: types of inputs and outputs are static.
absl::StatusOr<int64_t> ProductFlops(const NodeView& view, absl::Span<const ValueType> outputs);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_PRODUCTS_H_
