// Resize. Callable: see call.h.
//
// An axis at a time: each place along it of the output is a weighted sum of neighbours in the input, of 2 (linear) or 4
// (cubic: R. Keys, "Cubic convolution interpolation for digital image processing", 1981), or of as many more as
// an antialiased kernel is wider. In mode "nearest" each element is one of the input.
#ifndef SLIPWAY_CORE_KERNELS_RESIZE_H_
#define SLIPWAY_CORE_KERNELS_RESIZE_H_

#include <stdint.h>

namespace slipway::kernels {

enum class ResizeMode : int64_t { kNearest = 0, kLinear = 1, kCubic = 2 };
// From a place in the output to one in the input: ONNX's coordinate_transformation_mode.
enum class ResizeCoordinates : int64_t {
  kHalfPixel = 0,
  kHalfPixelSymmetric = 1,
  kPytorchHalfPixel = 2,
  kAlignCorners = 3,
  kAsymmetric = 4,
  kCropAndResize = 5,
  kTfHalfPixel = 6,
};
enum class ResizeRounding : int64_t { kHalfDown = 0, kHalfUp = 1, kFloor = 2, kCeil = 3 };
enum class ResizeAspect : int64_t { kStretch = 0, kNotLarger = 1, kNotSmaller = 2 };

}  // namespace slipway::kernels

extern "C" {
// Inputs: x, roi, scales, sizes. Parameters: ResizeMode, ResizeCoordinates, ResizeRounding, ResizeAspect, whether it is
// antialiased, whether what is outside has no weight, a of the cubic kernel (real), the value outside of a crop (real),
// whether sizes are given, the number of axes, the axes.
int32_t slipway_Resize(void** arguments);
int32_t slipway_Resize_extents(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_RESIZE_H_
