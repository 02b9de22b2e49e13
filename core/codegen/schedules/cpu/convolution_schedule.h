// Convolutions and pools on CPUs: a tile of outputs whose accumulators stay in registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_CONVOLUTION_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_CONVOLUTION_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/codegen/schedules/parameters.h"
#include "core/target/machine_description.h"

namespace slipway {

// How a convolution is cut.
struct ConvolutionSchedule {
  // A tile: positions of a row, of a plain convolution vectors of them, by blocks of channels.
  int width = 1;
  int blocks = 1;
  int height = 1;  // Rows of a tile; more than one in tile registers alone.
  // 1: sums are made in tile registers (core/codegen/tile_registers.h).
  int registers = 0;
  // 1: its weights stay in registers while inputs come from memory, one after the other; 0: the other way round.
  int keeps_weights = 1;
  // Parts of the output's rows, each a task.
  int strips = 1;
};

// x-tiles of C-vectors; c is one vector.
ConvolutionSchedule ChooseBlockedConvolution(const MachineDescription& machine,
                                             const ConvolutionStages& stages);
Parameters BlockedConvolutionParameters(const MachineDescription& machine,
                                        const ConvolutionStages& stages,
                                        ConvolutionSchedule& schedule);
void ScheduleBlockedConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                                const ConvolutionSchedule& schedule, Halide::Func result);

// x-tiles of one C.
ConvolutionSchedule ChooseDepthwiseConvolution(const MachineDescription& machine,
                                               const ConvolutionStages& stages);
Parameters DepthwiseConvolutionParameters(const MachineDescription& machine,
                                          const ConvolutionStages& stages,
                                          ConvolutionSchedule& schedule);
void ScheduleDepthwiseConvolution(const MachineDescription& machine,
                                  const ConvolutionStages& stages,
                                  const ConvolutionSchedule& schedule, Halide::Func result);

// Vectors along x, several channels C a tile.
ConvolutionSchedule ChoosePlainConvolution(const MachineDescription& machine,
                                           const ConvolutionStages& stages);
Parameters PlainConvolutionParameters(const MachineDescription& machine,
                                      const ConvolutionStages& stages,
                                      ConvolutionSchedule& schedule);
void SchedulePlainConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                              const ConvolutionSchedule& schedule, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_CONVOLUTION_SCHEDULE_H_
