#include "core/tensor/finite.h"

#include <algorithm>
#include <cmath>

namespace slipway {
namespace {

template <typename T>
bool Finite(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

}  // namespace

bool AllFinite(const Tensor& tensor) {
  if (tensor.dtype() == DataType::kFloat32) return Finite<float>(tensor);
  if (tensor.dtype() == DataType::kFloat64) return Finite<double>(tensor);
  return true;
}

}  // namespace slipway
