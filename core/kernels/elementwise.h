// Unary functions, element by element.
#ifndef SLIPWAY_CORE_KERNELS_ELEMENTWISE_H_
#define SLIPWAY_CORE_KERNELS_ELEMENTWISE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace slipway::kernels {

// y[i] = function(x[i]).
template <typename X, typename Y, typename Function>
void Map(int64_t count, const X* x, Y* y, Function function) {
  for (int64_t i = 0; i < count; ++i) y[i] = function(x[i]);
}

// The functions. NaN goes through all of them.
template <typename T>
T Relu(T x) {
  return x < T{0} ? T{0} : x;
}
template <typename T>
T LeakyRelu(T x, T alpha) {
  return x < T{0} ? alpha * x : x;
}
template <typename T>
T Elu(T x, T alpha) {
  return x < T{0} ? alpha * std::expm1(x) : x;
}
template <typename T>
T Sigmoid(T x) {
  // Either way the exponential is of a negative number, which does not overflow.
  if (x >= T{0}) return T{1} / (T{1} + std::exp(-x));
  const T e = std::exp(x);
  return e / (T{1} + e);
}
template <typename T>
T HardSigmoid(T x, T alpha, T beta) {
  const T y = alpha * x + beta;
  return y < T{0} ? T{0} : y > T{1} ? T{1} : y;
}
template <typename T>
T HardSwish(T x) {
  return x * HardSigmoid(x, T{1} / T{6}, T{0.5});
}
template <typename T>
T Absolute(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x;
  } else {
    return std::fabs(x);
  }
}
// The lowest integer is its own negative, as in two's complement.
template <typename T>
T Negative(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  } else {
    return -x;
  }
}
template <typename T>
T Clip(T x, T low, T high) {
  // As ONNX says: min(max(x, low), high), whatever the order of the bounds.
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_ELEMENTWISE_H_
