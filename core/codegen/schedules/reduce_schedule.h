// Reductions over whole dimensions: partial results a lane where the innermost dimension is reduced.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_REDUCE_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_REDUCE_SCHEDULE_H_

#include <halide14/Halide.h>

#include <functional>
#include <string>
#include <vector>

#include "core/codegen/machine.h"

namespace slipway {

// How elements are combined: an associative, commutative function with an identity.
struct Combiner {
  Halide::Expr identity;
  std::function<Halide::Expr(Halide::Expr, Halide::Expr)> combine;
};

// The stages of a reduction, in the order they are computed. All have the kept dimensions; the first of
// two has a dimension of lanes before them.
struct Reduction {
  Halide::Func total;    // total(kept...)
  Halide::Func partial;  // partial(lane, kept...); undefined when the innermost dimension is kept.
};

// Reduces `element`, a function of one index a dimension (innermost first), over the dimensions where
// `reduced` is true. `vars` names the kept dimensions. REQUIRES: every extent is at least 1.
Reduction MakeReduction(
    const Machine& machine,
    const std::function<Halide::Expr(const std::vector<Halide::Expr>&)>& element,
    const std::vector<int>& extents, const std::vector<bool>& reduced,
    const std::vector<Halide::Var>& vars, const Combiner& combiner, const std::string& name);

// Computes the reduction's stages at `at` of `consumer`, or as stages of the root when `consumer` has no
// loops. `lanes` is the number of kept elements of the innermost dimension that the consumer computes at
// once (1 when it is reduced).
void ComputeReductionAt(const Reduction& reduction, Halide::Func consumer, Halide::Var at,
                        int lanes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_REDUCE_SCHEDULE_H_
