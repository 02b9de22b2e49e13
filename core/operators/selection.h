// Operators that choose among elements by their values: TopK, NonZero, Compress, Unique. Of how many elements the last
// three are, no type rule says: their outputs have an extent that is not known.
#ifndef SLIPWAY_CORE_OPERATORS_SELECTION_H_
#define SLIPWAY_CORE_OPERATORS_SELECTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The `count` largest (or smallest) elements along the axis, and where they stand. Of equal ones the first comes first;
// NaN counts as larger than everything. `sorted` ones come in order, others may.
struct TopKView {
  int64_t axis = 0;
  Dimension count = 0;
  bool largest = true;
};
absl::StatusOr<TopKView> DecodeTopK(const NodeView& view);

// Where Compress and Unique choose: along the axis, or among all elements as if they had one dimension.
struct PiecesView {
  bool flat = false;
  int64_t axis = 0;  // 0 where flat.
};
absl::StatusOr<PiecesView> DecodePieces(const NodeView& view);

absl::Status RegisterSelectionOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_SELECTION_H_
