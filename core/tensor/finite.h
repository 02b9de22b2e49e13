// Whether numbers are finite.
#ifndef SLIPWAY_CORE_TENSOR_FINITE_H_
#define SLIPWAY_CORE_TENSOR_FINITE_H_

#include "core/tensor/tensor.h"

namespace slipway {

// Whether no element of type f32 or f64 is infinite or NaN. True of other types.
bool AllFinite(const Tensor& tensor);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_FINITE_H_
