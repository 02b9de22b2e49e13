#include "core/kernel_abi/element_type.h"

namespace slipway {

slipway_element_type ElementType(DataType dtype) {
  // Of the memory that an element takes: smaller ones lie in bytes of their own.
  const auto bits = static_cast<uint8_t>(8 * ByteSize(dtype));
  switch (dtype) {
    case DataType::kFloat16:
    case DataType::kFloat32:
    case DataType::kFloat64:
      return {SLIPWAY_TYPE_FLOAT, bits, 1};
    case DataType::kBfloat16:
      return {SLIPWAY_TYPE_BFLOAT, bits, 1};
    case DataType::kInt2:
    case DataType::kInt4:
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return {SLIPWAY_TYPE_INT, bits, 1};
    default:
      return {SLIPWAY_TYPE_UINT, bits, 1};
  }
}

}  // namespace slipway
