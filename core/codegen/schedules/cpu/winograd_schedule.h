// Convolutions by Winograd's tiles on CPUs: for each position in a tile a product of matrices whose accumulators stay in
// registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_WINOGRAD_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_WINOGRAD_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/codegen/schedules/parameters.h"
#include "core/target/machine_description.h"

namespace slipway {

// How such a convolution is cut.
struct WinogradSchedule {
  int band_rows = 1;  // Rows of tiles that are transformed together.
  // What has its accumulators in registers: tiles by blocks of channels.
  int width = 1;
  int blocks = 1;
  int chunk = 1;  // Blocks of channels whose products are made before they are transformed.
  int parallel_bands =
      0;  // 1: a band is a task; 0: bands are computed one after the other, each by all threads.
};

WinogradSchedule ChooseWinogradConvolution(const MachineDescription& machine,
                                           const WinogradStages& stages);
Parameters WinogradConvolutionParameters(const MachineDescription& machine,
                                         const WinogradStages& stages, WinogradSchedule& schedule);
void ScheduleWinogradConvolution(const MachineDescription& machine, const WinogradStages& stages,
                                 const WinogradSchedule& schedule, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_WINOGRAD_SCHEDULE_H_
