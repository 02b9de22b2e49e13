// Convolutions over raw memory: no allocation, no state. All sizes are in elements.
#ifndef SLIPWAY_CORE_KERNELS_CONVOLUTION_H_
#define SLIPWAY_CORE_KERNELS_CONVOLUTION_H_

#include <cstdint>

namespace slipway::kernels {

// One spatial dimension of a sliding window.
struct WindowDimension {
  int64_t input = 1;   // Extent slid over.
  int64_t output = 1;  // Extent of the result.
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
};

struct ConvolutionShape {
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t group = 1;
  // Channels innermost in x and y; 1 is plain NCHW. Blocks do not cross groups.
  int64_t in_block = 1;
  int64_t out_block = 1;
  WindowDimension depth;  // Of extent 1 where there are fewer than three dimensions.
  WindowDimension height;
  WindowDimension width;
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

#endif  // SLIPWAY_CORE_KERNELS_CONVOLUTION_H_
