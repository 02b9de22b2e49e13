// Convolutions. Callable: see call.h. f32 and f64 are summed as what they are, narrower floats in f64.
#ifndef SLIPWAY_CORE_KERNELS_CONVOLUTION_H_
#define SLIPWAY_CORE_KERNELS_CONVOLUTION_H_

#include <stdint.h>

#include "core/kernels/window.h"

namespace slipway::kernels {

struct ConvolutionShape : SpatialWindow {
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t group = 1;
  // Channels innermost in x and y; 1 is plain NCHW. Blocks do not cross groups.
  int64_t in_block = 1;
  int64_t out_block = 1;
};

// x [N, Ci/ci, D, H, W, ci], w [Co/co, Ci/group/ci, KD, KH, KW, ci, co], bias [Co] or null,
// y [N, Co/co, OD, OH, OW, co]; with ci = co = 1 that is ONNX's Conv.
template <typename T>
void Convolution(const ConvolutionShape& shape, const T* x, const T* w, const T* bias, T* y);

// One filter a channel: x [N, C/c, D, H, W, c], w [C/c, KD, KH, KW, c], bias [C] or null, y like x.
// Reads batch, in_channels, in_block and the window of `shape`.
template <typename T>
void DepthwiseConvolution(const ConvolutionShape& shape, const T* x, const T* w, const T* bias,
                          T* y);

extern template void Convolution(const ConvolutionShape&, const float*, const float*, const float*,
                                 float*);
extern template void Convolution(const ConvolutionShape&, const double*, const double*,
                                 const double*, double*);
extern template void DepthwiseConvolution(const ConvolutionShape&, const float*, const float*,
                                          const float*, float*);
extern template void DepthwiseConvolution(const ConvolutionShape&, const double*, const double*,
                                          const double*, double*);

}  // namespace slipway::kernels

extern "C" {
// Inputs: x, w, bias. Parameters: group, the number of channels innermost in x and in y (1 for Conv), a window.
int32_t slipway_Conv(void** arguments);
// The same for one filter a channel (slipway.DepthwiseConvNCHWc).
int32_t slipway_DepthwiseConv(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_CONVOLUTION_H_
