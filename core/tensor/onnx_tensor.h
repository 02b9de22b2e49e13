// ONNX's TensorProto (the .pb files of its test data) without its generated code: read without trust,
// written with raw data. The wire format is protocol buffers'; the fields are those of onnx.proto.
#ifndef SLIPWAY_CORE_TENSOR_ONNX_TENSOR_H_
#define SLIPWAY_CORE_TENSOR_ONNX_TENSOR_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "core/tensor/tensor.h"

namespace slipway {

// With an empty name when the file gives none. INVALID_ARGUMENT says what is wrong with the bytes; UNIMPLEMENTED for segments
// and data kept in another file.
absl::StatusOr<NamedTensor> ParseOnnxTensor(absl::string_view bytes);

// REQUIRES: the tensor is set.
std::string FormatOnnxTensor(const Tensor& tensor, absl::string_view name);

// The fields of a TensorProto that carry its value, wherever they lie.
struct OnnxTensorFields {
  absl::Span<const int64_t> dims;
  int64_t data_type = 0;
  absl::optional<absl::string_view> raw_data;  // Absent, or OnnxByteSize bytes.
  absl::Span<const float> float_data;          // f32, c64 in pairs
  absl::Span<const int32_t>
      int32_data;  // i32, i16, i8, u16, u8, bool, other floats; packed bytes of 4 and 2 bits
  absl::Span<const int64_t> int64_data;    // i64
  absl::Span<const double> double_data;    // f64, c128 in pairs
  absl::Span<const uint64_t> uint64_data;  // u64, u32
  absl::Span<const absl::string_view> string_data;
};

// Bytes of the type's elements in ONNX's files: elements of 6, 4 and 2 bits lie there one behind the other, from the
// lowest bit of each byte up.
int64_t OnnxByteSize(const TensorType& type);

// The tensor, with its own copy of the elements. Nothing is allocated before the number of elements
// fits the shape. Errors as ParseOnnxTensor's.
absl::StatusOr<Tensor> TensorFromOnnxFields(const OnnxTensorFields& fields);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_ONNX_TENSOR_H_
