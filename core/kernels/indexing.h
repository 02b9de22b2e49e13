// Kernels that read and write at places which an operand of indices says. Callable: see call.h. An index in [-extent, 0)
// counts from the end; one outside of [-extent, extent) fails.
#ifndef SLIPWAY_CORE_KERNELS_INDEXING_H_
#define SLIPWAY_CORE_KERNELS_INDEXING_H_

#include <stdint.h>

namespace slipway::kernels {

// What becomes of an element that an update meets.
enum class Reduction : int64_t { kNone = 0, kAdd = 1, kMul = 2, kMax = 3, kMin = 4 };

}  // namespace slipway::kernels

extern "C" {
// Inputs: data, indices. Parameters: axis.
int32_t slipway_GatherElements(void** arguments);
// Inputs: data, indices. Parameters: the number of dimensions that are batches.
int32_t slipway_GatherND(void** arguments);
// Inputs: data, indices, updates. Parameters: axis, Reduction.
int32_t slipway_ScatterElements(void** arguments);
// Inputs: data, indices, updates. Parameters: Reduction.
int32_t slipway_ScatterND(void** arguments);
// Inputs: cache, update, write indices. Parameters: axis, whether it is circular.
int32_t slipway_TensorScatter(void** arguments);
// Inputs: indices, depth, values. Parameters: axis.
int32_t slipway_OneHot(void** arguments);
int32_t slipway_OneHot_count(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_INDEXING_H_
