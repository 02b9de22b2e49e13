// ChooseWinogradTile: which convolutions are faster by transformed tiles, and by which.
#ifndef SLIPWAY_CORE_BACKENDS_CPU_WINOGRAD_CHOICE_H_
#define SLIPWAY_CORE_BACKENDS_CPU_WINOGRAD_CHOICE_H_

#include <cstdint>

#include "core/operators/convolution.h"
#include "core/target/machine_description.h"
#include "core/tensor/dtype.h"

namespace slipway {

// Cycles of one core that a convolution of the form HasTiles of ChooseConvolution takes, its products at the rate of the multiply-add
// units, its weights through the memory: directly, in numbers of `dtype`; by tiles of m x m outputs in f32, m 2, 4 or 6, with the
// transforms of its tiles. To be compared with each other, not with a clock.
double DirectCycles(const MachineDescription& machine, const ConvView& conv, DataType dtype);
double TiledCycles(const MachineDescription& machine, const ConvView& conv, int64_t m);

// The m of the least cycles, 0 where the convolution is faster directly, in numbers of `direct`; a larger one has to be a fifth faster
// than a smaller one: it rounds more.
int64_t ChooseWinogradTile(const MachineDescription& machine, const ConvView& conv,
                           DataType direct = DataType::kFloat32);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_CPU_WINOGRAD_CHOICE_H_
