// Reducing over dimensions, shared by the reductions and the global pools.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_REDUCTION_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_REDUCTION_H_

#include <halide14/Halide.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/lowering.h"
#include "core/codegen/schedules/reduce_schedule.h"

namespace slipway {

// What becomes of the elements: combined, then finish(total, number of elements).
struct ReduceKind {
  std::function<Combiner(Halide::Type)> combiner;
  std::function<Halide::Expr(Halide::Expr, int64_t)> finish;
};
ReduceKind SumOf();
ReduceKind MeanOf();
ReduceKind LargestOf();

// Reduces input 0 of the node over the axes that `reduced` marks, an entry an axis.
absl::StatusOr<std::vector<Halide::Func>> LowerReduction(LoweringContext& context,
                                                         std::vector<bool> reduced, bool keep_dims,
                                                         const ReduceKind& kind);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_REDUCTION_H_
