// Random tensors that are the same on every machine, so that they need not be carried to one.
#ifndef SLIPWAY_TESTS_COMMON_SEEDED_TENSOR_H_
#define SLIPWAY_TESTS_COMMON_SEEDED_TENSOR_H_

#include <cstdint>

#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace slipway::testing {

// What an f32 tensor is made from: numbers that are close enough to normal, with this mean and deviation.
struct SeededNormal {
  Shape shape;
  double mean = 0;
  double deviation = 1;
  uint64_t seed = 0;  // Below 2^32.
};

// REQUIRES: a shape that CheckShape allows.
Tensor MakeSeeded(const SeededNormal& seeded);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_SEEDED_TENSOR_H_
