// Products by seven of half their extents on CPUs: bands of rows whose sums of quarters are made together, chunks of columns whose
// seven products are.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_STRASSEN_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_STRASSEN_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/codegen/schedules/parameters.h"
#include "core/target/machine_description.h"

namespace slipway {

// How such a product is cut.
struct StrassenSchedule {
  int band = 1;    // Pairs of rows, of images rows of one, whose sums are made together;
  int images = 1;  // whole images where it is more than one.
  // What has its accumulators in registers: pairs by blocks of columns.
  int rows = 1;
  int panels = 1;
  int chunk = 1;  // Blocks of columns whose products are made before the result is.
  int parallel_bands =
      0;  // 1: a band is a task; 0: bands are computed one after the other, each by all threads.
};

StrassenSchedule ChooseStrassenProduct(const MachineDescription& machine,
                                       const StrassenStages& stages);
Parameters StrassenProductParameters(const MachineDescription& machine,
                                     const StrassenStages& stages, StrassenSchedule& schedule);
void ScheduleStrassenProduct(const MachineDescription& machine, const StrassenStages& stages,
                             const StrassenSchedule& schedule, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_STRASSEN_SCHEDULE_H_
