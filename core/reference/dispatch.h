// From an element type known at run time to one known to the compiler.
#ifndef SLIPWAY_CORE_REFERENCE_DISPATCH_H_
#define SLIPWAY_CORE_REFERENCE_DISPATCH_H_

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/reference/kernel.h"
#include "core/tensor/dtype.h"

namespace slipway {

// function(T()) with the element type of `dtype`, f32 or f64. The function returns a Status.
template <typename Function>
absl::Status DispatchFloat(const KernelCall& call, DataType dtype, Function function) {
  switch (dtype) {
    case DataType::kFloat32:
      return function(float());
    case DataType::kFloat64:
      return function(double());
    default:
      return call.view.Unimplemented(
          absl::StrCat("the reference has no kernel for elements of type ", Name(dtype)));
  }
}

// The same with the integers of 8 to 64 bits.
template <typename Function>
absl::Status DispatchNumeric(const KernelCall& call, DataType dtype, Function function) {
  switch (dtype) {
    case DataType::kInt8:
      return function(int8_t());
    case DataType::kInt16:
      return function(int16_t());
    case DataType::kInt32:
      return function(int32_t());
    case DataType::kInt64:
      return function(int64_t());
    case DataType::kUint8:
      return function(uint8_t());
    case DataType::kUint16:
      return function(uint16_t());
    case DataType::kUint32:
      return function(uint32_t());
    case DataType::kUint64:
      return function(uint64_t());
    default:
      return DispatchFloat(call, dtype, function);
  }
}

// Typed pointers to what a call reads and writes; null where omitted.
template <typename T>
const T* In(const KernelCall& call, int i) {
  const bool present = i < static_cast<int>(call.inputs.size()) && call.inputs[i] != nullptr;
  return present ? call.inputs[i]->values<T>().data() : nullptr;
}
template <typename T>
T* Out(const KernelCall& call, int i = 0) {
  return call.outputs[i].mutable_values<T>().data();
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_DISPATCH_H_
