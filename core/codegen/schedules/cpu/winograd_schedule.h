// Convolutions by Winograd's tiles on CPUs: for each position in a tile a product of matrices whose accumulators stay in
// registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_WINOGRAD_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_WINOGRAD_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/target/machine_description.h"

namespace slipway {

void ScheduleWinogradConvolution(const MachineDescription& machine, const WinogradStages& stages,
                                 Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_WINOGRAD_SCHEDULE_H_
