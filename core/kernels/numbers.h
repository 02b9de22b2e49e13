// Elements of operands as doubles, by place, where a kernel's time is not spent on reading them: one code for all types
// instead of one for each. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_NUMBERS_H_
#define SLIPWAY_CORE_KERNELS_NUMBERS_H_

#include <stdint.h>

#include "core/kernels/call.h"

namespace slipway::kernels {

// An element of DispatchAny's types; 0 for others, which type rules keep away. Integers of 64 bits are rounded.
inline double NumberAt(const Operand& operand, int64_t i) {
  switch (operand.type()) {
    case Type::kFloat32:
      return operand.data<const float>()[i];
    case Type::kFloat64:
      return operand.data<const double>()[i];
    case Type::kFloat16:
      return Widen(operand.data<const Float16>()[i]);
    case Type::kBfloat16:
      return Widen(operand.data<const Bfloat16>()[i]);
    case Type::kInt8:
      return operand.data<const int8_t>()[i];
    case Type::kInt16:
      return operand.data<const int16_t>()[i];
    case Type::kInt32:
      return operand.data<const int32_t>()[i];
    case Type::kInt64:
      return static_cast<double>(operand.data<const int64_t>()[i]);
    case Type::kBool:
    case Type::kUint8:
      return operand.data<const uint8_t>()[i];
    case Type::kUint16:
      return operand.data<const uint16_t>()[i];
    case Type::kUint32:
      return operand.data<const uint32_t>()[i];
    case Type::kUint64:
      return static_cast<double>(operand.data<const uint64_t>()[i]);
    default:
      return 0;
  }
}

// Stores into an operand of floats, rounded once.
inline void SetNumber(const Operand& operand, int64_t i, double value) {
  switch (operand.type()) {
    case Type::kFloat32:
      operand.data<float>()[i] = static_cast<float>(value);
      return;
    case Type::kFloat64:
      operand.data<double>()[i] = value;
      return;
    case Type::kFloat16:
      operand.data<Float16>()[i] = Narrow<Float16>(value);
      return;
    case Type::kBfloat16:
      operand.data<Bfloat16>()[i] = Narrow<Bfloat16>(value);
      return;
    default:
      return;
  }
}

// The number of a float type that is nearest; the number itself for other types.
inline double RoundTo(Type type, double value) {
  switch (type) {
    case Type::kFloat32:
      return static_cast<float>(value);
    case Type::kFloat16:
      return Widen(Narrow<Float16>(value));
    case Type::kBfloat16:
      return Widen(Narrow<Bfloat16>(value));
    default:
      return value;
  }
}

// Loads `count` elements from `first` on.
inline void LoadNumbers(const Operand& operand, int64_t first, int64_t count, double* to) {
  if (operand.type() == Type::kFloat32) {
    const float* from = operand.data<const float>() + first;
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = NumberAt(operand, first + i);
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_NUMBERS_H_
