// What the schedules share: which tails are safe, vectors, parallel outer loops.
//
// Kernels are compiled without checks, so every split here is proved by static extents: RoundUp only
// where the factor divides the extent or the memory behind is ours to round up, ShiftInwards only where
// the extent is at least the factor.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_LOOPS_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_LOOPS_H_

#include <halide14/Halide.h>

#include <vector>

#include "core/codegen/machine.h"

namespace slipway {

// The tail of a split of a pure loop. REQUIRES: factor <= extent.
Halide::TailStrategy ExactOrShifted(int extent, int factor);

// The largest power of two that is at most `lanes` and at most `extent`.
int LanesWithin(int lanes, int extent);

// A loop and its number of iterations.
struct OuterLoop {
  Halide::Var var;
  int64_t extent;
};

// Fuses those of `loops` (innermost first, next to each other) that run more than once, and runs the
// fused loop in parallel. Returns its Var, or the innermost loop's when none runs more than once.
Halide::Var ParallelizeOuter(Halide::Func func, const std::vector<OuterLoop>& loops);

// Vectorizes the innermost dimension of a Func that lives in scratch memory of its own.
// `innermost_extent` is its extent; 0 when bounds inference alone knows, and then the Func must read
// nothing out of bounds where it is computed beyond it.
void VectorizeScratch(const Machine& machine, Halide::Func func, int innermost_extent);

// The schedule of a Func that is nothing but an expression: `extents` innermost first. Vectors along
// the innermost dimension, tasks over the outer ones. Also makes it a stage of its own (compute_root).
void ScheduleInjective(const Machine& machine, Halide::Func func, const std::vector<int>& extents);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_LOOPS_H_
