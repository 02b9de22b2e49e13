// Poolings. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_POOLING_H_
#define SLIPWAY_CORE_KERNELS_POOLING_H_

#include <stdint.h>

#include "core/kernels/window.h"

namespace slipway::kernels {

struct PoolingShape : SpatialWindow {
  int64_t planes = 1;  // Batch times channels, resp. times blocks of channels.
  int64_t block = 1;   // Channels innermost; 1 is plain NCHW.
  // Average: divide by the part of the window inside input and padding, not inside input alone.
  bool count_include_pad = false;
  // Maximum: places are numbered with the first spatial dimension innermost.
  bool column_major = false;
};

enum class Pooling : int64_t { kMax = 0, kAverage = 1, kLp = 2 };

// x [planes, D, H, W, block], y [planes, OD, OH, OW, block]. A window that sees a NaN makes NaN, one that sees no input
// the lowest value. `indices`: null, or the number in x of each element chosen, of equal ones of the first.
template <typename T>
void MaxPool(const PoolingShape& shape, const T* x, T* y, int64_t* indices = nullptr);
template <typename T>
void AveragePool(const PoolingShape& shape, const T* x, T* y);

extern template void MaxPool(const PoolingShape&, const float*, float*, int64_t*);
extern template void MaxPool(const PoolingShape&, const double*, double*, int64_t*);
extern template void AveragePool(const PoolingShape&, const float*, float*);
extern template void AveragePool(const PoolingShape&, const double*, double*);

}  // namespace slipway::kernels

extern "C" {
// Inputs: x. Outputs: y, indices. Parameters: Pooling, channels innermost (1 where plain), whether padding counts in
// an average, whether indices are column-major, p, a window.
int32_t slipway_Pool(void** arguments);
// Inputs: x. The window is all of space. Parameters: Pooling, p.
int32_t slipway_GlobalPool(void** arguments);
// Inputs: x, indices, shape of y, which is that of what was pooled without it. Parameters: the number of spatial dimensions; for
// each the stride, and what the kernel reaches beyond the last stride less all padding.
int32_t slipway_MaxUnpool(void** arguments);
int32_t slipway_MaxUnpool_extents(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_POOLING_H_
