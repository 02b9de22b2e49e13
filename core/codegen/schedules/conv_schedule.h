// Schedules of convolutions: a tile of outputs whose accumulators stay in registers.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CONV_SCHEDULE_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CONV_SCHEDULE_H_

#include <halide14/Halide.h>

#include "core/codegen/machine.h"

namespace slipway {

// The stages of a convolution and the extents its schedule needs.
struct ConvStages {
  Halide::Func accumulator;  // Summed in its one update; the same dimensions as the result.
  Halide::Func padded;       // The input within its zeros; undefined where there is no padding.
  Halide::RDom reduction;
  int input_block =
      0;           // Extent of the padded input's innermost dimension where that is channels, a
                   // power of two; 0 where it is the width.
  int width = 1;   // Of the output, in positions.
  int height = 1;  // Of the output.
  int batch = 1;
  // Outer channel extent of the output, and how many of those read the same inputs (a group's).
  int channel_blocks = 1;
  int group_blocks = 1;
};

// result(c, x, y, C, n): x-tiles of C-vectors; c is one vector.
void ScheduleBlockedConv(const Machine& machine, const ConvStages& stages, Halide::Func result);

// result(c, x, y, C, n) of a depthwise convolution: each C reads its own input channels.
void ScheduleDepthwiseConv(const Machine& machine, const ConvStages& stages, Halide::Func result);

// result(x, y, C, n): vectors along x, several channels C a tile.
void SchedulePlainConv(const Machine& machine, const ConvStages& stages, Halide::Func result);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CONV_SCHEDULE_H_
