#include "core/passes/pack_constants.h"

#include <algorithm>

#include "core/base/check.h"

namespace slipway {
namespace {

void CheckFloatOfRank(const Tensor& tensor, size_t rank) {
  SLIPWAY_CHECK(tensor.dtype() == DataType::kFloat32 && tensor.shape().size() == rank,
                "a constant of another type cannot be packed");
}

}  // namespace

Tensor PackChannels(const Tensor& nchw, int64_t block) {
  CheckFloatOfRank(nchw, 4);
  const Shape& s = nchw.shape();
  SLIPWAY_CHECK(s[1] % block == 0, "the block does not divide the channels");
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {s[0], s[1] / block, s[2], s[3], block});
  const int64_t area = s[2] * s[3];
  const float* from = nchw.values<float>().data();
  float* to = packed.mutable_values<float>().data();
  for (int64_t outer = 0; outer < s[0] * s[1] / block; ++outer) {
    for (int64_t i = 0; i < area; ++i) {
      for (int64_t c = 0; c < block; ++c) *to++ = from[(outer * block + c) * area + i];
    }
  }
  return packed;
}

Tensor PackConvWeights(const Tensor& weights, int64_t ci, int64_t co) {
  CheckFloatOfRank(weights, 4);
  const Shape& s = weights.shape();
  SLIPWAY_CHECK(s[0] % co == 0 && s[1] % ci == 0, "the blocks do not divide the channels");
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {s[0] / co, s[1] / ci, s[2], s[3], ci, co});
  const int64_t area = s[2] * s[3];
  const float* from = weights.values<float>().data();
  float* to = packed.mutable_values<float>().data();
  for (int64_t o = 0; o < s[0]; o += co) {
    for (int64_t i = 0; i < s[1]; i += ci) {
      for (int64_t k = 0; k < area; ++k) {
        for (int64_t ii = i; ii < i + ci; ++ii) {
          for (int64_t oo = o; oo < o + co; ++oo) *to++ = from[(oo * s[1] + ii) * area + k];
        }
      }
    }
  }
  return packed;
}

Tensor PackConvWeightsForPlainInput(const Tensor& weights, int64_t co) {
  CheckFloatOfRank(weights, 4);
  const Shape& s = weights.shape();
  SLIPWAY_CHECK(s[0] % co == 0, "the block does not divide the channels");
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {s[0] / co, s[1], s[2], s[3], co});
  const int64_t row = s[1] * s[2] * s[3];
  const float* from = weights.values<float>().data();
  float* to = packed.mutable_values<float>().data();
  for (int64_t o = 0; o < s[0]; o += co) {
    for (int64_t i = 0; i < row; ++i) {
      for (int64_t oo = o; oo < o + co; ++oo) *to++ = from[oo * row + i];
    }
  }
  return packed;
}

Tensor PackDepthwiseWeights(const Tensor& weights, int64_t c) {
  CheckFloatOfRank(weights, 4);
  const Shape& s = weights.shape();
  SLIPWAY_CHECK(s[0] % c == 0 && s[1] == 1, "these weights are not those of a depthwise Conv");
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {s[0] / c, s[2], s[3], c});
  const int64_t area = s[2] * s[3];
  const float* from = weights.values<float>().data();
  float* to = packed.mutable_values<float>().data();
  for (int64_t o = 0; o < s[0]; o += c) {
    for (int64_t k = 0; k < area; ++k) {
      for (int64_t oo = o; oo < o + c; ++oo) *to++ = from[oo * area + k];
    }
  }
  return packed;
}

Tensor PackMatrix(const Tensor& matrix, int64_t n) {
  CheckFloatOfRank(matrix, 2);
  const int64_t rows = matrix.shape()[0];
  const int64_t columns = matrix.shape()[1];
  const int64_t panels = (columns + n - 1) / n;
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {panels, rows, n});
  const float* from = matrix.values<float>().data();
  float* to = packed.mutable_values<float>().data();
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t width = std::min(n, columns - p * n);
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(from + r * columns + p * n, width, to + (p * rows + r) * n);
    }
  }
  return packed;
}

}  // namespace slipway
