// Schedules for GPUs, whatever they are programmed in: an element of a result is an instance of a kernel, and what its loops sum
// up stays in the instance's registers. What rows or other instances share is a kernel of its own before it.
//
// As on CPUs there are no checks: instances beyond the elements are guarded, and none computes more than one.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_GPU_THREAD_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_GPU_THREAD_SCHEDULE_H_

#include <halide14/Halide.h>

#include <algorithm>

#include "core/codegen/anchor.h"
#include "core/codegen/schedules/parameters.h"
#include "core/target/machine_description.h"

namespace slipway {

// How many instances are a group.
struct ThreadSchedule {
  int threads = 64;
};

// Two groups of threads that go together, on most machines: enough, and no tail of a small result waits for much more.
template <typename Stages>
ThreadSchedule ChooseThreads(const MachineDescription& machine, const Stages&) {
  return {std::min(64, machine.max_threads_per_block)};
}

Parameters ThreadParameters(const MachineDescription& machine, ThreadSchedule& schedule);
template <typename Stages>
Parameters ThreadParametersOf(const MachineDescription& machine, const Stages&,
                              ThreadSchedule& schedule) {
  return ThreadParameters(machine, schedule);
}

// Both give the Func memory of its own, and an instance each element, of each of its updates each element that it writes.
void ScheduleInjectiveThreads(const MachineDescription& machine, const InjectiveStages& stages,
                              const ThreadSchedule& schedule, Halide::Func func);
void ScheduleUpdatedThreads(const MachineDescription& machine, const UpdatedStages& stages,
                            const ThreadSchedule& schedule, Halide::Func func);

// An element is summed where it is made. What is read within zeros is asked for each time it is read.
void ScheduleConvolutionThreads(const MachineDescription& machine, const ConvolutionStages& stages,
                                const ThreadSchedule& schedule, Halide::Func result);
void ScheduleProductThreads(const MachineDescription& machine, const MatrixStages& stages,
                            const ThreadSchedule& schedule, Halide::Func result);
void ScheduleReductionThreads(const MachineDescription& machine, const ReductionStages& stages,
                              const ThreadSchedule& schedule, Halide::Func result);

// What is combined over a row is an instance's, once for the row.
void ScheduleRowThreads(const MachineDescription& machine, const RowStages& stages,
                        const ThreadSchedule& schedule, Halide::Func result);

void ScheduleJoinThreads(const MachineDescription& machine, const JoinStages& stages,
                         const ThreadSchedule& schedule, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_GPU_THREAD_SCHEDULE_H_
