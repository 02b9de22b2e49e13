// Convolutions and pools on CPUs: a tile of outputs whose accumulators stay in registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_CONVOLUTION_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_CONVOLUTION_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/anchor.h"
#include "core/target/machine_description.h"

namespace slipway {

// x-tiles of C-vectors; c is one vector.
void ScheduleBlockedConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                                Halide::Func result);

// x-tiles of one C.
void ScheduleDepthwiseConvolution(const MachineDescription& machine,
                                  const ConvolutionStages& stages, Halide::Func result);

// Vectors along x, several channels C a tile.
void SchedulePlainConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                              Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_CONVOLUTION_SCHEDULE_H_
