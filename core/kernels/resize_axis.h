// How an axis is resized: what Resize's kernel and its lowering have in common. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_RESIZE_AXIS_H_
#define SLIPWAY_CORE_KERNELS_RESIZE_AXIS_H_

#include <stdint.h>

#include "core/kernels/math.h"
#include "core/kernels/resize.h"

namespace slipway::kernels {

struct ResizeAxis {
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  int64_t in = 0;  // Extents.
  int64_t out = 0;
  // The scale, how many outputs an input becomes, is above / below: two numbers, so that a scale which comes from extents
  // stays exact.
  double above = 1;
  double below = 1;
  // kCropAndResize: what of the input is taken, as parts of its extent.
  double begin = 0;
  double end = 1;

  bool Changes() const {
    return in != out || above != below || coordinates == ResizeCoordinates::kCropAndResize ||
           coordinates == ResizeCoordinates::kTfHalfPixel;
  }
  double Scale() const { return above / below; }

  // Where output i lies in the input. False where that is outside of what is cropped.
  bool Source(int64_t i, double& at) const {
    const auto place = static_cast<double>(i);
    const auto last = static_cast<double>(in - 1);
    // What the output would be long, not rounded.
    const double length = static_cast<double>(in) * above / below;
    switch (coordinates) {
      case ResizeCoordinates::kHalfPixel:
        at = (place + 0.5) * below / above - 0.5;
        return true;
      case ResizeCoordinates::kHalfPixelSymmetric:
        at = static_cast<double>(in) / 2 * (1 - static_cast<double>(out) / length) +
             (place + 0.5) * below / above - 0.5;
        return true;
      case ResizeCoordinates::kPytorchHalfPixel:
        at = out > 1 ? (place + 0.5) * below / above - 0.5 : 0;
        return true;
      case ResizeCoordinates::kAlignCorners:
        at = length == 1 ? 0 : place * last / (length - 1);
        return true;
      case ResizeCoordinates::kAsymmetric:
        at = place * below / above;
        return true;
      case ResizeCoordinates::kTfHalfPixel:
        at = (place + 0.5) * below / above;
        return true;
      case ResizeCoordinates::kCropAndResize:
        at = length == 1 ? (begin + end) / 2 * last
                         : begin * last + place * (end - begin) * last / (length - 1);
        return at >= 0 && at <= last;
    }
    return false;
  }
};

// The nearest place that there is.
inline int64_t Clamped(int64_t at, int64_t extent) {
  return at < 0 ? 0 : at >= extent ? extent - 1 : at;
}

// As a float, so that a scale which f32 rounds does not push places beside whole numbers.
inline int64_t Rounded(ResizeRounding rounding, double at) {
  const double place = static_cast<float>(at);
  switch (rounding) {
    case ResizeRounding::kHalfDown:
      return static_cast<int64_t>(Ceil(place - 0.5));
    case ResizeRounding::kHalfUp:
      return static_cast<int64_t>(Floor(place + 0.5));
    case ResizeRounding::kFloor:
      return static_cast<int64_t>(Floor(place));
    case ResizeRounding::kCeil:
      break;
  }
  return static_cast<int64_t>(Ceil(place));
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_RESIZE_AXIS_H_
