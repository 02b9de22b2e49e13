// ChooseWinogradTile: which convolutions are faster by transformed tiles, and by which.
#ifndef SLIPWAY_CORE_BACKENDS_CPU_WINOGRAD_CHOICE_H_
#define SLIPWAY_CORE_BACKENDS_CPU_WINOGRAD_CHOICE_H_

#include <cstdint>

#include "core/operators/convolution.h"
#include "core/target/machine_description.h"

namespace slipway {

// Cycles of one core that a convolution of the form HasTiles of ChooseConvolution takes by tiles of m x m outputs, m 2, 4 or 6, or
// directly (0): its products at the rate of the multiply-add units, its weights through the memory, and the transforms of its tiles. To be compared with each other, not with a clock.
double ConvolutionCycles(const MachineDescription& machine, const ConvView& conv, int64_t m);

// The m of the least cycles, where a larger one has to be a fifth faster than a smaller one: it rounds more.
int64_t ChooseWinogradTile(const MachineDescription& machine, const ConvView& conv);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_CPU_WINOGRAD_CHOICE_H_
