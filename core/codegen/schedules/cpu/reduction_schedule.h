// Reductions and what is made of rows by them on CPUs: partial results a lane where the innermost dimension is reduced, tasks over
// what is kept.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_REDUCTION_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_REDUCTION_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/target/machine_description.h"

namespace slipway {

void ScheduleReduction(const MachineDescription& machine, const ReductionStages& stages,
                       Halide::Func result);

void ScheduleRows(const MachineDescription& machine, const RowStages& stages, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_REDUCTION_SCHEDULE_H_
