// How close two tensors are, and the sentence that says where they differ.
#ifndef SLIPWAY_CORE_TENSOR_COMPARISON_H_
#define SLIPWAY_CORE_TENSOR_COMPARISON_H_

#include "absl/status/status.h"
#include "core/tensor/tensor.h"

namespace slipway {

// |actual - expected| <= absolute + relative * |expected|, as in NumPy's allclose. NaN equals NaN,
// infinities equal themselves. Integers, bools and strings must be equal. Of complex tensors the real and
// the imaginary parts are compared one by one.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-5;
};

// OK, or FAILED_PRECONDITION with the number of elements that differ, the worst one's index and both
// values; or INVALID_ARGUMENT when types or shapes differ or a tensor is unset.
absl::Status CheckClose(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_COMPARISON_H_
