#include "core/kernels/logic.h"

#include "core/kernels/elements.h"
#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

template <typename T>
int32_t Choose(const Call& call) {
  const Operand inputs[] = {call.input(0), call.input(1), call.input(2)};
  const bool* chosen = inputs[0].data<const bool>();
  const T* a = inputs[1].data<const T>();
  const T* b = inputs[2].data<const T>();
  T* y = call.output(0).data<T>();
  BroadcastRows rows(inputs, 3, call.output(0));
  ForEachRun(rows, 3, [&](int64_t first, const int64_t* at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      y[first + i] = chosen[at[0] + i * rows.step(0)] ? a[at[1] + i * rows.step(1)]
                                                      : b[at[2] + i * rows.step(2)];
    }
  });
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Equal(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a == b; });
}
int32_t slipway_Greater(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a > b; });
}
int32_t slipway_GreaterOrEqual(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a >= b; });
}
int32_t slipway_Less(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a < b; });
}
int32_t slipway_LessOrEqual(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a <= b; });
}
int32_t slipway_And(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a != 0 && b != 0; });
}
int32_t slipway_Or(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a != 0 || b != 0; });
}
int32_t slipway_Xor(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return a != b; });
}

int32_t slipway_Not(void** arguments) {
  const Call call(arguments);
  const bool* x = call.input(0).data<const bool>();
  bool* y = call.output(0).data<bool>();
  for (int64_t i = 0; i < call.input(0).elements(); ++i) y[i] = !x[i];
  return 0;
}

int32_t slipway_IsNaN(void** arguments) {
  return MapFloats(Call(arguments), [](double x) { return IsNan(x); });
}
int32_t slipway_IsInf(void** arguments) {
  const Call call(arguments);
  const bool negative = call.Integer(0) != 0;
  const bool positive = call.Integer(1) != 0;
  return MapFloats(call, [&](double x) {
    return (negative && x == -kInfinity) || (positive && x == kInfinity);
  });
}

int32_t slipway_Where(void** arguments) {
  const Call call(arguments);
  return DispatchSize(call, call.output(0).type(),
                      [&](auto zero) { return Choose<decltype(zero)>(call); });
}
