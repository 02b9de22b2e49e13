// How far products by seven of half their extents are from sums in double precision, weights' sums included.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/operators/strassen.h"
#include "core/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"

namespace slipway {
namespace {

constexpr int64_t kRows = 65;
constexpr int64_t kDepth = 768;
constexpr int64_t kBlock = 16;
constexpr int64_t kColumns = 4 * kBlock;
// The largest error, as a share of the largest sum. What is measured for uniform factors is half of it.
constexpr double kBound = 2.5e-6;

Tensor Uniform(Shape shape, uint32_t seed) {
  std::minstd_rand random(seed);
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, std::move(shape));
  for (float& value : tensor.mutable_values<float>()) {
    value = static_cast<float>(random() % 65536) / 32768.0f - 1.0f;
  }
  return tensor;
}

Tensor MultipliedInDouble(const Tensor& x, const Tensor& w) {
  Tensor y = Tensor::Zeros(DataType::kFloat32, {kRows, kColumns});
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < kDepth; ++k) {
        sum +=
            double{x.values<float>()[row * kDepth + k]} * w.values<float>()[k * kColumns + column];
      }
      y.mutable_values<float>()[row * kColumns + column] = static_cast<float>(sum);
    }
  }
  return y;
}

// [N/2/n, 7, K/2, n], as the compiler makes them.
Tensor SumsOfQuarters(const Tensor& w) {
  Tensor sums = Tensor::Zeros(DataType::kFloat32, {kColumns / 2 / kBlock, 7, kDepth / 2, kBlock});
  float* next = sums.mutable_values<float>().data();
  for (int64_t pair = 0; pair < kColumns / 2 / kBlock; ++pair) {
    for (const auto& row : kStrassen.right) {
      for (int64_t step = 0; step < kDepth / 2; ++step) {
        for (int64_t c = 0; c < kBlock; ++c) {
          double sum = 0;
          for (int64_t q = 0; q < kStrassenQuarters; ++q) {
            const int64_t k = q / 2 * (kDepth / 2) + step;
            sum += row[q] * w.values<float>()[k * kColumns + (pair * 2 + q % 2) * kBlock + c];
          }
          *next++ = static_cast<float>(sum);
        }
      }
    }
  }
  return sums;
}

TEST(StrassenError, IsBounded) {
  const Tensor x = Uniform({kRows, kDepth}, 1);
  const Tensor w = Uniform({kDepth, kColumns}, 2);
  const Tensor y = MultipliedInDouble(x, w);
  double largest = 0;
  for (const float value : y.values<float>()) {
    largest = std::max(largest, std::abs(double{value}));
  }
  const Tensor sums = SumsOfQuarters(w);
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    KernelSuite suite;
    suite.AddExpecting("halves",
                       [&](GraphBuilder& b) {
                         const ValueId left = b.Input("x", DataType::kFloat32, x.shape());
                         b.Output(b.Add("slipway.StrassenGemm",
                                        {left, b.Input("w", DataType::kFloat32, sums.shape())}));
                       },
                       {x, sums}, {y}, {0, kBound * largest});
    suite.Run(target);
  }
}

}  // namespace
}  // namespace slipway
