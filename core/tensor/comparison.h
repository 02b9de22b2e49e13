// How close two tensors are, and the sentence that says where they differ.
#ifndef SLIPWAY_CORE_TENSOR_COMPARISON_H_
#define SLIPWAY_CORE_TENSOR_COMPARISON_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor/tensor.h"

namespace slipway {

// |actual - expected| <= absolute + relative * |expected|, as in NumPy's allclose. NaN equals NaN,
// infinities equal themselves. Integers, bools and strings must be equal. Of complex tensors the real and
// the imaginary parts are compared one by one.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-5;
};

// What two correct ways to compute a value of a network may differ by: the type's precision with room for sums in
// another order.
Tolerance DefaultTolerance(DataType dtype);

struct TensorDifference {
  // What was compared: numbers, of which complex elements have two, or strings.
  int64_t count = 0;
  // Those outside the tolerance.
  int64_t differing = 0;
  // Of these, those that are NaN or infinite on one side and something else on the other.
  int64_t not_finite = 0;
  // The largest |actual - expected| of numbers that are finite on both sides, and the largest such part of |expected|
  // where that is not 0.
  double absolute = 0;
  double relative = 0;
  // The mean |actual - expected| of those.
  double mean = 0;
  // The largest number of floats of the type that lie from one to the other, of those; 0 for numbers that are no floats of 16
  // bits or more.
  double ulps = 0;
  // Of what is furthest outside the tolerance, the first of equals (of strings the first at all): the index of its
  // element, and both sides as text. Empty where nothing differs.
  Shape at;
  std::string actual;
  std::string expected;
};

// INVALID_ARGUMENT when types or shapes differ or a tensor is unset.
absl::StatusOr<TensorDifference> MeasureDifference(const Tensor& actual, const Tensor& expected,
                                                   const Tolerance& tolerance);

// OK, or FAILED_PRECONDITION with the number of elements that differ, the worst one's index and both
// values; or an error of MeasureDifference.
absl::Status CheckClose(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_COMPARISON_H_
