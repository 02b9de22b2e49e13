// The list of all schedules: who computes which kind of anchor on which machine.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_SCHEDULE_LIST_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_SCHEDULE_LIST_H_

#include "core/codegen/anchor.h"
#include "core/target/machine_description.h"

namespace slipway {

// Looks an anchor's schedule up by its kind and the machine. Pure but for what it does to the Funcs.
ScheduleFunction SchedulesFor(const MachineDescription& machine);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_SCHEDULE_LIST_H_
