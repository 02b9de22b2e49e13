// Convolutions. Callable: see call.h. f32 and f64 are summed as what they are, narrower floats in f64, i16 and bytes in i32,
// which wraps around.
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
  // Innermost in w, as core/operators/convolution.h has them; 1: none.
  int64_t terms = 1;
};

// x [N, Ci/ci, D, H, W, ci], w [Co/co, Ci/group/ci, KD, KH, KW, ci, co], bias [Co] or null,
// y [N, Co/co, OD, OH, OW, co]; with ci = co = 1 that is ONNX's Conv. Sum is T, or int32_t where T is int16_t.
template <typename T, typename Sum>
void Convolution(const ConvolutionShape& shape, const T* x, const T* w, const Sum* bias, Sum* y);

// One filter a channel: x [N, C/c, D, H, W, c], w [C/c, KD, KH, KW, c], bias [C] or null, y like x.
// Reads batch, in_channels, in_block and the window of `shape`.
template <typename T, typename Sum>
void DepthwiseConvolution(const ConvolutionShape& shape, const T* x, const T* w, const Sum* bias,
                          Sum* y);

extern template void Convolution(const ConvolutionShape&, const float*, const float*, const float*,
                                 float*);
extern template void Convolution(const ConvolutionShape&, const double*, const double*,
                                 const double*, double*);
extern template void DepthwiseConvolution(const ConvolutionShape&, const float*, const float*,
                                          const float*, float*);
extern template void DepthwiseConvolution(const ConvolutionShape&, const double*, const double*,
                                          const double*, double*);
extern template void Convolution(const ConvolutionShape&, const int16_t*, const int16_t*,
                                 const int32_t*, int32_t*);
extern template void DepthwiseConvolution(const ConvolutionShape&, const int16_t*, const int16_t*,
                                          const int32_t*, int32_t*);

}  // namespace slipway::kernels

extern "C" {
// Inputs: x, w, bias. Parameters: group, the number of channels innermost in x and in y (1 for Conv and slipway.IntegerConv),
// the terms innermost in w, what surrounds x, a window.
int32_t slipway_Conv(void** arguments);
// The same for one filter a channel (slipway.DepthwiseConvNCHWc).
int32_t slipway_DepthwiseConv(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_CONVOLUTION_H_
