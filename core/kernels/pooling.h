// Poolings over raw memory.
#ifndef SLIPWAY_CORE_KERNELS_POOLING_H_
#define SLIPWAY_CORE_KERNELS_POOLING_H_

#include <cstdint>

#include "core/kernels/convolution.h"

namespace slipway::kernels {

struct PoolingShape {
  int64_t planes = 1;  // Batch times channels, resp. times blocks of channels.
  int64_t block = 1;   // Channels innermost; 1 is plain NCHW.
  WindowDimension depth;
  WindowDimension height;
  WindowDimension width;
  // Average: divide by the part of the window inside input and padding, not inside input alone.
  bool count_include_pad = false;
};

// x [planes, D, H, W, block], y [planes, OD, OH, OW, block]. A window that sees a NaN makes NaN, one
// that sees no input the lowest value.
template <typename T>
void MaxPool(const PoolingShape& shape, const T* x, T* y);
template <typename T>
void AveragePool(const PoolingShape& shape, const T* x, T* y);

extern template void MaxPool(const PoolingShape&, const float*, float*);
extern template void MaxPool(const PoolingShape&, const double*, double*);
extern template void AveragePool(const PoolingShape&, const float*, float*);
extern template void AveragePool(const PoolingShape&, const double*, double*);

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_POOLING_H_
