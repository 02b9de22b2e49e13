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
  // Floats under 16 bits, named by the bits of their exponent and fraction: "fn" have no infinity, "uz" no negative
  // zero. core/tensor/small_float.h says what each byte is.
  kFloat8E4M3Fn = 17,
  kFloat8E4M3FnUz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FnUz = 20,
  // Elements of fewer than 8 bits take a byte each: integers as that byte's value, floats in its lowest bits, the
  // others 0. Only ONNX's files pack them.
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,  // Powers of two from 2^-127 to 2^127, and NaN.
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};

// Bytes per element; 0 for kInvalid and kString, whose elements have no fixed size.
int64_t ByteSize(DataType dtype);

// Bits that an element needs, as few as 1 for bool; 0 where ByteSize is 0.
int BitSize(DataType dtype);

// Whether every byte of `bytes` is an element. Only types with BitSize < 8 have bytes that are none, and those must not
// come near a kernel. Where false, `*first_bad` is the index of one.
bool AreElements(DataType dtype, absl::string_view bytes, int64_t* first_bad);

// "f32", "u8", "i8", "u16", "i16", "i32", "i64", "string", "bool", "f16", "f64", "u32", "u64", "c64",
// "c128", "bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4", "i4", "f4e2m1", "f8e8m0", "u2", "i2",
// "f6e2m3", "f6e3m2"; "invalid" for anything else.
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
