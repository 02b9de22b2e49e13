// Reducing over dimensions, shared by the reductions and the global pools.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_REDUCTION_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_REDUCTION_H_

#include <halide14/Halide.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/anchor.h"
#include "core/codegen/lowering.h"

namespace slipway {

// How elements are combined: an associative, commutative function with an identity.
struct Combiner {
  Halide::Expr identity;
  std::function<Halide::Expr(Halide::Expr, Halide::Expr)> combine;
  // Whether each operand is read once, so that a tree of many is no larger than they are.
  bool reads_once = false;
};

Combiner SumCombiner(Halide::Type type);

// Reduces `element`, a function of one index a dimension (innermost first), over the dimensions where
// `reduced` is true; where the innermost is, into as many partial results as `lanes` and its extent allow, elsewhere into a
// few that lie along the innermost dimension that is, if `lanes` is not 1.
// `vars` names the kept dimensions. REQUIRES: every extent is at least 1. Of the kept
// ones nothing is asked.
PartialReduction ReducePartially(
    int lanes, const std::function<Halide::Expr(const std::vector<Halide::Expr>&)>& element,
    const std::vector<Extent>& extents, const std::vector<bool>& reduced,
    const std::vector<Halide::Var>& vars, const Combiner& combiner, const std::string& name);

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
