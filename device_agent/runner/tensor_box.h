// Boxes of tensors: the elements from a first index on, so many along each dimension.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_TENSOR_BOX_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_TENSOR_BOX_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor/tensor.h"

namespace slipway {

// A copy of the box. INVALID_ARGUMENT names the dimension along which it leaves the tensor; errors of Tensor::Create.
absl::StatusOr<Tensor> CopyBox(const Tensor& from, absl::Span<const int64_t> begin,
                               absl::Span<const int64_t> shape);

// Writes all of `from` into a box of `to`. INVALID_ARGUMENT when element types or ranks differ, or as above.
absl::Status AssignBox(const Tensor& from, absl::Span<const int64_t> begin, Tensor& to);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_TENSOR_BOX_H_
