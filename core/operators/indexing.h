// Operators that read and write at places which an input of indices says: GatherElements, GatherND, ScatterElements,
// ScatterND, TensorScatter, OneHot. (Gather, which is lowered, is one of movement.h.)
#ifndef SLIPWAY_CORE_OPERATORS_INDEXING_H_
#define SLIPWAY_CORE_OPERATORS_INDEXING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// What becomes of an element that an update meets. The numbers are those of core/kernels/indexing.h.
enum class ScatterReduction : int64_t { kNone = 0, kAdd = 1, kMul = 2, kMax = 3, kMin = 4 };
absl::StatusOr<ScatterReduction> DecodeScatterReduction(const NodeView& view);

// GatherElements and ScatterElements: the axis in [0, rank of the data).
absl::StatusOr<int64_t> DecodeElementsAxis(const NodeView& view);

// How many leading dimensions of GatherND's data and indices go together.
absl::StatusOr<int64_t> DecodeBatchDims(const NodeView& view);

// TensorScatter writes update[b, ..., i, ...] along `axis` of the cache, beginning at its batch's write index.
struct TensorScatterView {
  int64_t axis = 0;
  bool circular = false;  // Behind the end comes the beginning; else what does not fit is an error.
};
absl::StatusOr<TensorScatterView> DecodeTensorScatter(const NodeView& view);

// OneHot's new dimension in the output, in [0, rank of the indices].
absl::StatusOr<int64_t> DecodeOneHotAxis(const NodeView& view);

absl::Status RegisterIndexingOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_INDEXING_H_
