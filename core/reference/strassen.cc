#include "core/reference/strassen.h"

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "core/base/status_macros.h"
#include "core/operators/convolution.h"
#include "core/operators/matrix.h"
#include "core/operators/strassen.h"
#include "core/reference/dispatch.h"

namespace slipway {
namespace {

struct Extents {
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t block = 1;
};

// Where an element of a matrix is: (row, step) of the left one, (row, column) of the result.
using Place = absl::FunctionRef<int64_t(int64_t row, int64_t column)>;

// Product `number` of a pair of rows and the column of a block that `w` begins with.
double Product(const Extents& extents, int number, int64_t pair, const float* x, Place x_at,
               const float* w) {
  const int64_t half = extents.depth / 2;
  double product = 0;
  for (int64_t step = 0; step < half; ++step) {
    double left = 0;
    for (int q = 0; q < kStrassenQuarters; ++q) {
      const int64_t row = std::min(2 * pair + q / 2, extents.rows - 1);
      left += kStrassen.left[number][q] * x[x_at(row, q % 2 * half + step)];
    }
    product += left * w[(number * half + step) * extents.block];
  }
  return product;
}

void Multiply(const KernelCall& call, const Extents& extents, Place x_at, Place y_at) {
  const float* const x = In<float>(call, 0);
  const float* const w = In<float>(call, 1);
  const float* const bias = In<float>(call, 2);
  float* const y = Out<float>(call);
  const int64_t block_weights = kStrassenProducts * (extents.depth / 2) * extents.block;
  for (int64_t pair = 0; 2 * pair < extents.rows; ++pair) {
    for (int64_t half_column = 0; half_column < extents.columns / 2; ++half_column) {
      const int64_t block = half_column / extents.block, c = half_column % extents.block;
      double products[kStrassenProducts];
      for (int p = 0; p < kStrassenProducts; ++p) {
        products[p] = Product(extents, p, pair, x, x_at, w + block * block_weights + c);
      }
      for (int q = 0; q < kStrassenQuarters; ++q) {
        const int64_t row = 2 * pair + q / 2;
        if (row >= extents.rows) continue;
        const int64_t column = (2 * block + q % 2) * extents.block + c;
        double sum = bias == nullptr ? 0 : bias[column];
        for (int p = 0; p < kStrassenProducts; ++p) sum += kStrassen.result[q][p] * products[p];
        y[y_at(row, column)] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace

absl::Status StrassenGemm(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(call.view));
  Multiply(
      call, {call.outputs[0].shape()[0], gemm.k, gemm.n, gemm.block},
      [&](int64_t row, int64_t step) { return row * gemm.k + step; },
      [&](int64_t row, int64_t column) { return row * gemm.n + column; });
  return absl::OkStatus();
}

absl::Status StrassenConvNchwc(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(call.view));
  const Shape& y = call.outputs[0].shape();
  const int64_t area = y[2] * y[3];
  // Places of all images are rows; channels lie in blocks of planes.
  const auto place = [area](int64_t channels, int64_t block) {
    return [=](int64_t row, int64_t channel) {
      return ((row / area * (channels / block) + channel / block) * area + row % area) * block +
             channel % block;
    };
  };
  Multiply(call, {y[0] * area, conv.in_channels, conv.out_channels, conv.out_block},
           place(conv.in_channels, conv.in_block), place(conv.out_channels, conv.out_block));
  return absl::OkStatus();
}

}  // namespace slipway
