#include "core/kernels/constants.h"

#include "core/kernels/call.h"

namespace slipway::kernels {
namespace {

template <typename T>
int32_t EyeLike(const Call& call) {
  const Operand y = call.output(0);
  const int64_t diagonal = call.Integer(0);
  const int64_t width = y.extent(1);
  __builtin_memset(y.data<T>(), 0, static_cast<uint64_t>(y.elements()) * sizeof(T));
  for (int64_t row = 0; row < y.extent(0); ++row) {
    // Compared before it is added: the diagonal is any number.
    if (diagonal < -row || diagonal >= width - row) continue;
    y.data<T>()[row * width + row + diagonal] = Narrow<T>(1);
  }
  return 0;
}

template <typename T>
int32_t Range(const Call& call) {
  const auto start = Widen(call.input(0).data<const T>()[0]);
  const auto delta = Widen(call.input(2).data<const T>()[0]);
  const Operand y = call.output(0);
  for (int64_t i = 0; i < y.elements(); ++i) {
    y.data<T>()[i] = Narrow<T>(start + static_cast<WideOf<T>>(i) * delta);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_ConstantOfShape(void** arguments) {
  const Call call(arguments);
  const Operand y = call.output(0);
  const char* element = reinterpret_cast<const char*>(call.Integers());
  const int64_t bytes = ByteSize(y.type());
  const int64_t elements = y.elements();
  char* to = y.data<char>();
  for (int64_t i = 0; i < elements; ++i, to += bytes) {
    __builtin_memcpy(to, element, static_cast<uint64_t>(bytes));
  }
  return 0;
}

int32_t slipway_EyeLike(void** arguments) {
  const Call call(arguments);
  return DispatchAny(call, call.output(0).type(),
                     [&](auto zero) { return EyeLike<decltype(zero)>(call); });
}

int32_t slipway_Range(void** arguments) {
  const Call call(arguments);
  return DispatchNumber(call, call.output(0).type(),
                        [&](auto zero) { return Range<decltype(zero)>(call); });
}
