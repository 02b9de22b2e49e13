#include "tests/common/seeded_tensor.h"

#include <cmath>

namespace slipway::testing {
namespace {

// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

// Sums of four uniform numbers: the same with every library.
Tensor MakeSeeded(const SeededNormal& seeded) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, seeded.shape);
  const double factor = seeded.deviation * std::sqrt(3.0) / 65536;
  uint64_t counter = seeded.seed << 32;
  for (float& value : tensor.mutable_values<float>()) {
    const uint64_t bits = Mix(counter++);
    const int64_t sum = static_cast<int64_t>((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                             (bits >> 32 & 0xffff) + (bits >> 48)) -
                        2 * 65536;
    value = static_cast<float>(seeded.mean + factor * static_cast<double>(sum));
  }
  return tensor;
}

}  // namespace slipway::testing
