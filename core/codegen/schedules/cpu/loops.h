// What the schedules for CPUs share: which tails are safe, vectors, parallel outer loops.
//
// Kernels are compiled without checks, so every split here is proved by static extents: RoundUp only
// where the factor divides the extent or the memory behind is ours to round up, ShiftInwards only where
// the extent is at least the factor. What is split along an open extent has a guarded tail.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_LOOPS_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_LOOPS_H_

#include <halide14/Halide.h>

#include <vector>

#include "core/codegen/anchor.h"
#include "core/codegen/schedules/cpu/tiles.h"
#include "core/codegen/schedules/parameters.h"
#include "core/target/machine_description.h"

namespace slipway {

// The tail of a split of a pure loop. REQUIRES: factor <= extent, or the extent is kOpen.
Halide::TailStrategy ExactOrShifted(int extent, int factor);

// Elements of `type` in one vector register.
inline int Lanes(const MachineDescription& machine, Halide::Type type) {
  return machine.vector_bytes / type.bytes();
}
inline int FloatLanes(const MachineDescription& machine) {
  return Lanes(machine, Halide::Float(32));
}

// Tasks that a kernel's outer loop is cut into.
inline int64_t WantedTasks(const MachineDescription& machine) {
  return kTasksPerCore * machine.cores;
}

// A loop and its number of iterations.
struct OuterLoop {
  Halide::Var var;
  int64_t extent;
};

// Fuses those of `loops` (innermost first, next to each other) that run more than once, and runs the
// fused loop in parallel. Returns its Var, or the innermost loop's when none runs more than once.
Halide::Var ParallelizeOuter(Halide::Func func, const std::vector<OuterLoop>& loops);

// Vectorizes the innermost dimension of a Func that lives in scratch memory of its own.
// `innermost_extent` is its extent, or kOpen; 0 when bounds inference alone knows, and then the Func must read
// nothing out of bounds where it is computed beyond it.
void VectorizeScratch(const MachineDescription& machine, Halide::Func func, int innermost_extent);

// Has `loaded`, which a sum's update reads, in registers in the loop `at` of that update: vectors along its innermost dimension, all
// else unrolled. REQUIRES: extents there are known; `innermost_extent` as for VectorizeScratch.
void LoadTogether(const MachineDescription& machine, Halide::Func loaded, int innermost_extent,
                  Halide::Func sum, const Halide::RVar& at);

// How AnchorKind::kInjective is cut: vectors along the innermost dimension of any extent, tasks over the outer ones.
struct InjectiveSchedule {
  int lanes = 1;  // Of a vector.
  int tasks = 1;  // At least so many, as far as extents divide.
};

InjectiveSchedule ChooseInjective(const MachineDescription& machine, const InjectiveStages& stages);
Parameters InjectiveParameters(const MachineDescription& machine, const InjectiveStages& stages,
                               InjectiveSchedule& schedule);
void ScheduleInjective(const MachineDescription& machine, const InjectiveStages& stages,
                       const InjectiveSchedule& schedule, Halide::Func func);

// AnchorKind::kUpdated: loops as they are, for what is small against its surroundings.
void ScheduleUpdated(const MachineDescription& machine, const UpdatedStages& stages,
                     Halide::Func func);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_LOOPS_H_
