// DataType: what one element of a tensor is.
#ifndef SLIPWAY_CORE_TENSOR_DTYPE_H_
#define SLIPWAY_CORE_TENSOR_DTYPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// The numbers are ONNX's TensorProto.DataType, and those of slipway.v1.DataType.
enum class DataType : int32_t {
  kInvalid = 0,
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,  // One byte, 0 or 1.
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
};

// Bytes per element; 0 for kInvalid and kString, whose elements have no fixed size.
int64_t ByteSize(DataType dtype);

// "f32", "u8", "i8", "u16", "i16", "i32", "i64", "string", "bool", "f16", "f64", "u32", "u64", "c64",
// "c128", "bf16"; "invalid" for anything else.
absl::string_view Name(DataType dtype);

// The inverse of Name. INVALID_ARGUMENT lists the known names.
absl::StatusOr<DataType> ParseDataType(absl::string_view name);

// From a number on the wire. INVALID_ARGUMENT for a number that is not one of the above.
absl::StatusOr<DataType> DataTypeFromNumber(int64_t number);

// The DataType of a C++ element type.
template <typename T>
constexpr DataType DataTypeOf();
// clang-format off
template <> constexpr DataType DataTypeOf<float>() { return DataType::kFloat32; }
template <> constexpr DataType DataTypeOf<double>() { return DataType::kFloat64; }
template <> constexpr DataType DataTypeOf<uint8_t>() { return DataType::kUint8; }
template <> constexpr DataType DataTypeOf<int8_t>() { return DataType::kInt8; }
template <> constexpr DataType DataTypeOf<uint16_t>() { return DataType::kUint16; }
template <> constexpr DataType DataTypeOf<int16_t>() { return DataType::kInt16; }
template <> constexpr DataType DataTypeOf<int32_t>() { return DataType::kInt32; }
template <> constexpr DataType DataTypeOf<int64_t>() { return DataType::kInt64; }
template <> constexpr DataType DataTypeOf<uint32_t>() { return DataType::kUint32; }
template <> constexpr DataType DataTypeOf<uint64_t>() { return DataType::kUint64; }
template <> constexpr DataType DataTypeOf<bool>() { return DataType::kBool; }
// clang-format on

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_DTYPE_H_
