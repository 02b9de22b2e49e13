#include "core/kernels/winograd.h"

#include "core/kernels/call.h"

namespace slipway::kernels {
namespace {

using Square = double[kMaxWinogradTile][kMaxWinogradTile];

// `m` of rows x columns times `x` of columns x columns, times the transpose of `m`.
template <int kColumns>
void Transform(const double (*m)[kColumns], int rows, int columns, const Square& x, Square& y) {
  Square left;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      left[r][c] = 0;
      for (int k = 0; k < columns; ++k) left[r][c] += m[r][k] * x[k][c];
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < rows; ++c) {
      y[r][c] = 0;
      for (int k = 0; k < columns; ++k) y[r][c] += left[r][k] * m[c][k];
    }
  }
}

struct Plane {
  int64_t blocks, height, width, block;
  // Of the first image's element.
  int64_t At(int64_t channel, int64_t y, int64_t x) const {
    return ((channel / block * height + y) * width + x) * block + channel % block;
  }
  int64_t channels() const { return blocks * block; }
  int64_t elements() const { return channels() * height * width; }
};

Plane PlaneOf(const Operand& tensor) {
  return {tensor.extent(1), tensor.extent(2), tensor.extent(3), tensor.extent(4)};
}

struct Convolution {
  const WinogradMatrices& matrices;
  Plane in;
  Plane out;
  int64_t pad_height;
  int64_t pad_width;
  const float* w;  // [t, t, Co/co, Ci/ci, ci, co].
  const float* bias;

  double Weight(int row, int column, int64_t co, int64_t ci) const {
    const int64_t position = (int64_t{row} * matrices.tile + column) * out.blocks + co / out.block;
    return w[((position * in.blocks + ci / in.block) * in.block + ci % in.block) * out.block +
             co % out.block];
  }

  // Transformed inputs of one tile: for each channel t * t.
  void TransformInputs(const float* x, int64_t row, int64_t column, double* transformed) const {
    const int t = matrices.tile;
    for (int64_t ci = 0; ci < in.channels(); ++ci) {
      Square tile;
      for (int r = 0; r < t; ++r) {
        for (int c = 0; c < t; ++c) {
          const int64_t iy = row + r - pad_height;
          const int64_t ix = column + c - pad_width;
          const bool inside = iy >= 0 && iy < in.height && ix >= 0 && ix < in.width;
          tile[r][c] = inside ? x[in.At(ci, iy, ix)] : 0;
        }
      }
      Square v;
      Transform(matrices.input, t, t, tile, v);
      for (int i = 0; i < t * t; ++i) *transformed++ = v[i / t][i % t];
    }
  }

  void MakeTile(const double* transformed, int64_t row, int64_t column, float* y) const {
    const int t = matrices.tile;
    for (int64_t co = 0; co < out.channels(); ++co) {
      Square sums;
      for (int i = 0; i < t * t; ++i) {
        double sum = 0;
        for (int64_t ci = 0; ci < in.channels(); ++ci) {
          sum += transformed[ci * t * t + i] * Weight(i / t, i % t, co, ci);
        }
        sums[i / t][i % t] = sum;
      }
      Square tile;
      Transform(matrices.output, matrices.outputs, t, sums, tile);
      for (int64_t r = 0; r < matrices.outputs && row + r < out.height; ++r) {
        for (int64_t c = 0; c < matrices.outputs && column + c < out.width; ++c) {
          y[out.At(co, row + r, column + c)] =
              static_cast<float>(tile[r][c] + (bias == nullptr ? 0 : bias[co]));
        }
      }
    }
  }
};

}  // namespace

void TransformWinogradWeights(const WinogradMatrices& matrices, int64_t count, const float* w,
                              int64_t w_stride, float* transformed, int64_t transformed_stride) {
  constexpr int64_t kTogether = 16;
  const int t = matrices.tile;
  for (int64_t begin = 0; begin < count; begin += kTogether) {
    const int64_t lanes = count - begin < kTogether ? count - begin : kTogether;
    double left[kMaxWinogradTile][kWinogradKernel][kTogether] = {};
    for (int r = 0; r < t; ++r) {
      for (int k = 0; k < kWinogradKernel; ++k) {
        for (int c = 0; c < kWinogradKernel; ++c) {
          const float* const from = w + (k * kWinogradKernel + c) * w_stride + begin;
          for (int64_t i = 0; i < lanes; ++i) left[r][c][i] += matrices.weights[r][k] * from[i];
        }
      }
    }
    for (int r = 0; r < t; ++r) {
      for (int c = 0; c < t; ++c) {
        double sum[kTogether] = {};
        for (int k = 0; k < kWinogradKernel; ++k) {
          for (int64_t i = 0; i < lanes; ++i) sum[i] += left[r][k][i] * matrices.weights[c][k];
        }
        float* const to = transformed + (r * t + c) * transformed_stride + begin;
        for (int64_t i = 0; i < lanes; ++i) to[i] = static_cast<float>(sum[i]);
      }
    }
  }
}

}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_WinogradConv(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const WinogradMatrices* const matrices = FindWinograd(call.input(1).extent(0) - 2);
  if (matrices == nullptr || x.type() != Type::kFloat32) {
    return call.Fail("there is no kernel for such tiles");
  }
  const Convolution convolution = {
      *matrices,
      PlaneOf(x),
      PlaneOf(y),
      call.Integer(0),
      call.Integer(1),
      call.input(1).data<const float>(),
      call.input(2).present() ? call.input(2).data<const float>() : nullptr};
  const Scratch<double> transformed(call,
                                    convolution.in.channels() * matrices->tile * matrices->tile);
  if (!transformed) return call.Fail(kOutOfScratch);
  for (int64_t n = 0; n < x.extent(0); ++n) {
    const float* const image = x.data<const float>() + n * convolution.in.elements();
    float* const result = y.data<float>() + n * convolution.out.elements();
    for (int64_t row = 0; row < convolution.out.height; row += matrices->outputs) {
      for (int64_t column = 0; column < convolution.out.width; column += matrices->outputs) {
        convolution.TransformInputs(image, row, column, transformed.get());
        convolution.MakeTile(transformed.get(), row, column, result);
      }
    }
  }
  return 0;
}
