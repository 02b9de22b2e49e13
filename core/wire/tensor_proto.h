// Tensors on the wire.
#ifndef SLIPWAY_CORE_WIRE_TENSOR_PROTO_H_
#define SLIPWAY_CORE_WIRE_TENSOR_PROTO_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/tensor.pb.h"

namespace slipway {

// Larger tensors travel as blobs.
inline constexpr int64_t kMaxInlineTensorBytes = 1 << 20;

v1::TensorType ToProto(const TensorType& type);

// INVALID_ARGUMENT for an unknown element type; errors of CheckShape.
absl::StatusOr<TensorType> FromProto(const v1::TensorType& proto);

// With the elements inline. REQUIRES: tensor.byte_size() <=
// kMaxInlineTensorBytes.
v1::Tensor ToInlineProto(absl::string_view name, const Tensor& tensor);

// With the elements in the blob `digest`.
v1::Tensor ToBlobProto(absl::string_view name, const TensorType& type, const Digest& digest);

// Checks all that can be checked without the blob: the type, that there is
// content, that its size is that of the type (of strings at least that of their places) and within the limit for inline
// content. Names the tensor.
absl::Status CheckTensorProto(const v1::Tensor& proto);

// The tensor; `get_blob` is asked for content that is not inline. Inline bytes
// are copied, a blob's bytes are shared if they are aligned to 64 bytes. Errors
// of CheckTensorProto and of `get_blob`, with the tensor's name.
absl::StatusOr<Tensor> FromProto(const v1::Tensor& proto,
                                 absl::FunctionRef<absl::StatusOr<Blob>(const Digest&)> get_blob);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_TENSOR_PROTO_H_
