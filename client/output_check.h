// Whether what a program gives is what its model gives, as far as rounding allows.
#ifndef SLIPWAY_CLIENT_OUTPUT_CHECK_H_
#define SLIPWAY_CLIENT_OUTPUT_CHECK_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/value_differences.h"
#include "core/tensor/comparison.h"
#include "core/tensor/precision.h"
#include "core/tensor/tensor.h"

namespace slipway {

// How far floats may be from the reference, as a share of the largest magnitude of their tensor: by what products are computed
// in. What sums in another order, and Winograd's tiles, change is below a hundred-thousandth in f32; a product of f16 and tf32 has 11 bits, one of
// bf16 8 and one of int8 fewer, of which several in a row add up.
double DefaultCheckTolerance(Precision precision);

// What an element of `expected` may be off by, for that share: |actual - expected| <= share * the largest finite magnitude (1 where
// all are 0). At least the rounding of the element type, for f16 and bf16. What is no float must be equal.
Tolerance ToleranceFor(const Tensor& expected, double share);

struct OutputCheck {
  double tolerance = 0;
  ValueDifferences differences;  // From the reference, by output.

  // All outputs are there, and close.
  bool IsPassed() const;
};

OutputCheck CheckOutputs(absl::Span<const NamedTensor> actual,
                         absl::Span<const NamedTensor> expected, double tolerance);

// The first output that is wrong, where its largest error is, and what both sides are; for an error. REQUIRES: not passed.
std::string DescribeFailure(const OutputCheck& check);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_OUTPUT_CHECK_H_
