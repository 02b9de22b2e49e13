// Kernels that repeat, reverse, cut or blank out parts of a tensor. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_REARRANGEMENT_H_
#define SLIPWAY_CORE_KERNELS_REARRANGEMENT_H_

#include <stdint.h>

extern "C" {
// Inputs: x, repeats.
int32_t slipway_Tile(void** arguments);
int32_t slipway_Tile_extents(void** arguments);
// Inputs: x, k. Parameters: whether the upper triangles stay.
int32_t slipway_Trilu(void** arguments);
// Inputs: x, lengths. Parameters: the axis of time, 0 or 1; that of the batch is the other.
int32_t slipway_ReverseSequence(void** arguments);
// Inputs: x, shape. Parameters: the axes that the shape speaks of. What is cut off or added is as much before as behind, or
// one less.
int32_t slipway_CenterCropPad(void** arguments);
int32_t slipway_CenterCropPad_extents(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_REARRANGEMENT_H_
