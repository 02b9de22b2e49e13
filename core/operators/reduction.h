// Reductions over axes, which are input 1: ReduceL1, ReduceL2, ReduceLogSum, ReduceLogSumExp, ReduceMax, ReduceMean,
// ReduceMin, ReduceProd, ReduceSum, ReduceSumSquare; ArgMax and ArgMin along one; CumSum and CumProd, whose axis is an
// input that need not be constant.
#ifndef SLIPWAY_CORE_OPERATORS_REDUCTION_H_
#define SLIPWAY_CORE_OPERATORS_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

struct ReduceView {
  std::vector<int64_t> axes;  // In [0, rank), ascending; empty reduces nothing.
  bool keep_dims = true;
};
// FAILED_PRECONDITION where the axes are not known.
absl::StatusOr<ReduceView> DecodeReduce(const NodeView& view);

// ArgMax and ArgMin.
struct ArgMaxView {
  int64_t axis = 0;  // In [0, rank).
  bool keep_dims = true;
  bool select_last = false;
};
absl::StatusOr<ArgMaxView> DecodeArgMax(const NodeView& view);

absl::Status RegisterReductionOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_REDUCTION_H_
