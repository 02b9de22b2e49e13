// How far convolutions by Winograd's tiles are from sums in double precision, weights' transforms included.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/kernels/winograd.h"
#include "core/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"

namespace slipway {
namespace {

constexpr int64_t kSize = 14;

// Of tiles of `outputs` x `outputs`: the largest error of 256 input channels' sums, as a share of the largest sum. What is measured
// for uniform inputs and weights is a third to a half of it.
struct Bound {
  int outputs;
  double error;
};
constexpr Bound kBounds[] = {{2, 1e-6}, {4, 1e-5}, {6, 3e-5}};

Tensor Uniform(Shape shape, uint32_t seed) {
  std::minstd_rand random(seed);
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, std::move(shape));
  for (float& value : tensor.mutable_values<float>()) {
    value = static_cast<float>(random() % 65536) / 32768.0f - 1.0f;
  }
  return tensor;
}

// x: [1, C/b, H, W, b], w: [O/b, C/b, 3, 3, b, b]; padded by one, summed in double precision.
Tensor ConvolvedInDouble(const Tensor& x, const Tensor& w) {
  const Shape& in = x.shape();
  const Shape& weights = w.shape();
  const int64_t blocks = in[1], block = in[4], out_blocks = weights[0];
  const auto xs = x.values<float>();
  const auto ws = w.values<float>();
  Tensor y = Tensor::Zeros(DataType::kFloat32, {1, out_blocks, kSize, kSize, block});
  size_t at = 0;
  for (int64_t ob = 0; ob < out_blocks; ++ob) {
    for (int64_t row = 0; row < kSize; ++row) {
      for (int64_t column = 0; column < kSize; ++column) {
        for (int64_t oi = 0; oi < block; ++oi) {
          double sum = 0;
          for (int64_t c = 0; c < blocks * block; ++c) {
            for (int64_t tap = 0; tap < 9; ++tap) {
              const int64_t h = row + tap / 3 - 1, v = column + tap % 3 - 1;
              if (h < 0 || h >= kSize || v < 0 || v >= kSize) continue;
              const int64_t b = c / block, i = c % block;
              sum += double{xs[((b * kSize + h) * kSize + v) * block + i]} *
                     ws[(((ob * blocks + b) * 9 + tap) * block + i) * block + oi];
            }
          }
          y.mutable_values<float>()[at++] = static_cast<float>(sum);
        }
      }
    }
  }
  return y;
}

// [t, t, O/b, C/b, b, b], as the compiler makes them.
Tensor TransformedWeights(const Tensor& w, int outputs) {
  const Shape& shape = w.shape();
  const int64_t t = outputs + 2, block = shape[4], area = block * block;
  const int64_t pairs = shape[0] * shape[1];
  Tensor made = Tensor::Zeros(DataType::kFloat32, {t, t, shape[0], shape[1], block, block});
  for (int64_t pair = 0; pair < pairs; ++pair) {
    kernels::TransformWinogradWeights(
        *kernels::FindWinograd(outputs), area, w.values<float>().data() + pair * 9 * area, area,
        made.mutable_values<float>().data() + pair * area, pairs * area);
  }
  return made;
}

TEST(WinogradError, IsBounded) {
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    const int64_t block = target.level >= 4 ? 16 : target.level == 3 ? 8 : 4;
    const Tensor x = Uniform({1, 256 / block, kSize, kSize, block}, 1);
    const Tensor w = Uniform({1, 256 / block, 3, 3, block, block}, 2);
    const Tensor y = ConvolvedInDouble(x, w);
    double largest = 0;
    for (const float value : y.values<float>()) {
      largest = std::max(largest, std::abs(double{value}));
    }
    KernelSuite suite;
    for (const Bound& bound : kBounds) {
      const Tensor transformed = TransformedWeights(w, bound.outputs);
      const Tensor bias = Tensor::Zeros(DataType::kFloat32, {block});
      suite.AddExpecting(
          absl::StrCat("tiles of ", bound.outputs),
          [&](GraphBuilder& b) {
            const ValueId inputs[] = {b.Input("x", DataType::kFloat32, x.shape()),
                                      b.Input("w", DataType::kFloat32, transformed.shape()),
                                      b.Input("bias", DataType::kFloat32, bias.shape())};
            b.Output(b.Add("slipway.WinogradConvNCHWc", {inputs[0], inputs[1], inputs[2]},
                           {{"pads", Ints({1, 1, 1, 1})}}));
          },
          {x, transformed, bias}, {y}, {0, bound.error * largest});
    }
    suite.Run(target);
  }
}

}  // namespace
}  // namespace slipway
