// Kernels that read images at computed places. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_SAMPLING_H_
#define SLIPWAY_CORE_KERNELS_SAMPLING_H_

#include <stdint.h>

namespace slipway::kernels {

enum class SampleMode : int64_t { kNearest = 0, kLinear = 1, kCubic = 2 };
enum class SamplePadding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

}  // namespace slipway::kernels

extern "C" {
// Inputs: x, grid. Parameters: SampleMode, SamplePadding, whether corners are aligned.
int32_t slipway_GridSample(void** arguments);
// Inputs: theta, size. Parameters: whether corners are aligned.
int32_t slipway_AffineGrid(void** arguments);
int32_t slipway_AffineGrid_extents(void** arguments);
// Inputs: x, w, offsets, bias, mask. Parameters: group, group of the offsets, a window (window.h).
int32_t slipway_DeformConv(void** arguments);
// Inputs: x, rois, batch indices. Parameters: whether the maximum of samples is taken, not their mean; whether regions
// are moved by half a pixel; samples in a bin along each axis, 0 for as many as it has pixels; scale of regions (real).
int32_t slipway_RoiAlign(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_SAMPLING_H_
