// Weights in the order, and of the type, in which the template for tensor cores copies them.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_WEIGHT_LAYOUT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_WEIGHT_LAYOUT_H_

#include <cstdint>

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace slipway {

// As so many matrices, one behind the other, each of which is turned; one of one row is as it was. Elements are rounded to the type, to the nearest.
struct WeightLayout {
  int64_t matrices = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  DataType dtype = DataType::kFloat32;  // Or kFloat16, or kBfloat16.

  bool turns() const { return rows > 1 && columns > 1; }
  friend bool operator==(const WeightLayout&, const WeightLayout&) = default;
};

// REQUIRES: `weights` are f32, as many as the layout says, and as `shape` has.
Tensor LaidOutWeights(const Tensor& weights, const WeightLayout& layout, const Shape& shape);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_WEIGHT_LAYOUT_H_
