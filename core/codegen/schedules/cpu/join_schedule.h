// Joining tensors on CPUs: each part in vectors of its own.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_JOIN_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_JOIN_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/target/machine_description.h"

namespace slipway {

void ScheduleJoin(const MachineDescription& machine, const JoinStages& stages, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_JOIN_SCHEDULE_H_
