#include "core/passes/pack_constants.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/kernels/winograd.h"
#include "core/operators/strassen.h"
#include "core/passes/computed_constant.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

void CheckRank(const Tensor& tensor, size_t rank) {
  SLIPWAY_CHECK(tensor.shape().size() == rank, "a constant of another rank cannot be packed");
}

void CheckFloatOfRank(const Tensor& tensor, size_t rank) {
  CheckRank(tensor, rank);
  SLIPWAY_CHECK(tensor.dtype() == DataType::kFloat32,
                "a constant of another type cannot be packed");
}

using Fill = std::function<void(const float* from, float* to)>;

Tensor Packed(const Tensor& plain, Shape shape, Fill fill) {
  return ComputedConstant(plain, {DataType::kFloat32, std::move(shape)},
                          [fill = std::move(fill)](const Tensor& from, Tensor& to) {
                            fill(from.values<float>().data(), to.mutable_values<float>().data());
                          });
}

// Elements of any type in another order: `visit` is given a function that takes the place of the next one, or -1 for a zero.
template <typename Visit>
Tensor Rearranged(const Tensor& plain, Shape shape, Visit visit) {
  const auto fill = [visit = std::move(visit)](const Tensor& from, Tensor& to) {
    const auto move = [&](auto none) {
      using T = decltype(none);
      const T* const source = reinterpret_cast<const T*>(from.bytes().data());
      T* next = reinterpret_cast<T*>(to.mutable_bytes());
      visit([&](int64_t place) { *next++ = place < 0 ? T{0} : source[place]; });
    };
    switch (ByteSize(from.dtype())) {
      case 1:
        return move(uint8_t{});
      case 2:
        return move(uint16_t{});
      default:
        SLIPWAY_CHECK(ByteSize(from.dtype()) == 4, "a constant of another type cannot be packed");
        return move(uint32_t{});
    }
  };
  return ComputedConstant(plain, {plain.dtype(), std::move(shape)}, fill);
}

// Rows of `size` elements, `block` of them element by element.
auto InterleaveRows(int64_t rows, int64_t size, int64_t block) {
  return [=](const auto& next) {
    for (int64_t row = 0; row < rows; row += block) {
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t r = row; r < row + block; ++r) next(r * size + i);
      }
    }
  };
}

// How many products are summed up at once: two of integers.
int64_t PairOf(const Tensor& weights) { return weights.dtype() == DataType::kInt16 ? 2 : 1; }

Shape WithPair(Shape shape, int64_t pair) {
  if (pair > 1) shape.push_back(pair);
  return shape;
}

}  // namespace

Tensor PackChannels(const Tensor& nchw, int64_t block) {
  CheckRank(nchw, 4);
  const Shape& s = nchw.shape();
  SLIPWAY_CHECK(s[1] % block == 0, "the block does not divide the channels");
  return Rearranged(nchw, {s[0], s[1] / block, s[2], s[3], block},
                    [outers = s[0] * s[1] / block, area = s[2] * s[3], block](const auto& next) {
                      for (int64_t outer = 0; outer < outers; ++outer) {
                        for (int64_t i = 0; i < area; ++i) {
                          for (int64_t c = 0; c < block; ++c) next((outer * block + c) * area + i);
                        }
                      }
                    });
}

Tensor ExtendByZeros(const Tensor& tensor, size_t axis, int64_t extent) {
  Shape shape = tensor.shape();
  int64_t outers = 1, inners = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d < axis) outers *= shape[d];
    if (d > axis) inners *= shape[d];
  }
  const int64_t row = shape[axis] * inners;
  shape[axis] = extent;
  return Rearranged(tensor, std::move(shape),
                    [outers, row, longer = extent * inners](const auto& next) {
                      for (int64_t outer = 0; outer < outers; ++outer) {
                        for (int64_t i = 0; i < longer; ++i) next(i < row ? outer * row + i : -1);
                      }
                    });
}

Tensor PackConvWeights(const Tensor& weights, int64_t ci, int64_t co) {
  CheckRank(weights, 4);
  const Shape& s = weights.shape();
  const int64_t pair = PairOf(weights);
  SLIPWAY_CHECK(s[0] % co == 0 && s[1] % ci == 0 && ci % pair == 0,
                "the blocks do not divide the channels");
  return Rearranged(weights, WithPair({s[0] / co, s[1] / ci, s[2], s[3], ci / pair, co}, pair),
                    [outs = s[0], ins = s[1], area = s[2] * s[3], ci, co, pair](const auto& next) {
                      for (int64_t o = 0; o < outs; o += co) {
                        for (int64_t i = 0; i < ins; i += ci) {
                          for (int64_t k = 0; k < area; ++k) {
                            for (int64_t ii = i; ii < i + ci; ii += pair) {
                              for (int64_t oo = o; oo < o + co; ++oo) {
                                for (int64_t p = 0; p < pair; ++p) {
                                  next((oo * ins + ii + p) * area + k);
                                }
                              }
                            }
                          }
                        }
                      }
                    });
}

Tensor PackConvWeightsForPlainInput(const Tensor& weights, int64_t co) {
  CheckRank(weights, 4);
  const Shape& s = weights.shape();
  const int64_t pair = PairOf(weights);
  SLIPWAY_CHECK(s[0] % co == 0, "the block does not divide the channels");
  const int64_t width = s[3];
  const int64_t pairs = (width + pair - 1) / pair;
  return Rearranged(weights, WithPair({s[0] / co, s[1], s[2], pairs, co}, pair),
                    [=, outs = s[0], rows = s[1] * s[2]](const auto& next) {
                      for (int64_t o = 0; o < outs; o += co) {
                        for (int64_t row = 0; row < rows; ++row) {
                          for (int64_t k = 0; k < pairs * pair; k += pair) {
                            for (int64_t oo = o; oo < o + co; ++oo) {
                              for (int64_t p = k; p < k + pair; ++p) {
                                next(p < width ? (oo * rows + row) * width + p : -1);
                              }
                            }
                          }
                        }
                      }
                    });
}

Tensor PackedAsBfloat16(const Tensor& packed) {
  Shape shape = packed.shape();
  SLIPWAY_CHECK(
      packed.dtype() == DataType::kFloat32 && shape.size() >= 2 && shape[shape.size() - 2] % 2 == 0,
      "there are no pairs to be made");
  shape[shape.size() - 2] /= 2;
  shape.push_back(2);
  return ComputedConstant(packed, {DataType::kBfloat16, shape},
                          [co = packed.shape().back()](const Tensor& from, Tensor& to) {
                            const absl::Span<const float> source = from.values<float>();
                            auto* next = reinterpret_cast<uint16_t*>(to.mutable_bytes());
                            for (size_t step = 0; step < source.size(); step += 2 * co) {
                              for (int64_t o = 0; o < co; ++o) {
                                *next++ = FloatToBfloat16(source[step + o]);
                                *next++ = FloatToBfloat16(source[step + co + o]);
                              }
                            }
                          });
}

Tensor PackedAsBytes(const Tensor& packed) {
  Shape shape = packed.shape();
  const size_t rank = shape.size();
  SLIPWAY_CHECK(packed.dtype() == DataType::kInt16 && rank >= 3 && shape.back() == 2 &&
                    shape[rank - 3] % 2 == 0,
                "there are no fours to be made");
  shape[rank - 3] /= 2;
  shape[rank - 1] = 4;
  return ComputedConstant(packed, {DataType::kInt8, shape},
                          [co = shape[rank - 2]](const Tensor& from, Tensor& to) {
                            const absl::Span<const int16_t> source = from.values<int16_t>();
                            auto* next = reinterpret_cast<int8_t*>(to.mutable_bytes());
                            for (size_t step = 0; step < source.size(); step += 4 * co) {
                              for (int64_t o = 0; o < co; ++o) {
                                for (int64_t pair = 0; pair < 2; ++pair) {
                                  const size_t at = step + (pair * co + o) * 2;
                                  *next++ = static_cast<int8_t>(source[at]);
                                  *next++ = static_cast<int8_t>(source[at + 1]);
                                }
                              }
                            }
                          });
}

Tensor SumsOfPacked(const Tensor& packed, int64_t channels, int32_t factor) {
  const int64_t blocks = packed.shape()[0];
  const int64_t co = packed.shape()[packed.shape().size() - 2];
  SLIPWAY_CHECK(
      packed.dtype() == DataType::kInt16 && packed.shape().back() == 2 && channels <= blocks * co,
      "these weights are not packed in pairs of 16 bits");
  return ComputedConstant(
      packed, {DataType::kInt32, {channels}}, [=](const Tensor& from, Tensor& to) {
        const int16_t* next = from.values<int16_t>().data();
        const int64_t steps = from.num_elements() / (blocks * co * 2);
        std::vector<uint32_t> sums(static_cast<size_t>(blocks * co), 0);
        for (int64_t first = 0; first < blocks * co; first += co) {
          for (int64_t step = 0; step < steps; ++step) {
            for (int64_t c = first; c < first + co; ++c, next += 2) {
              sums[c] += static_cast<uint32_t>(next[0]) + static_cast<uint32_t>(next[1]);
            }
          }
        }
        const absl::Span<int32_t> y = to.mutable_values<int32_t>();
        for (int64_t c = 0; c < channels; ++c) {
          y[c] = static_cast<int32_t>(sums[c] * static_cast<uint32_t>(factor));
        }
      });
}

Tensor PackDepthwiseWeights(const Tensor& weights, int64_t c) {
  CheckRank(weights, 4);
  const Shape& s = weights.shape();
  SLIPWAY_CHECK(s[0] % c == 0 && s[1] == 1, "these weights are not those of a depthwise Conv");
  return Rearranged(weights, {s[0] / c, s[2], s[3], c}, InterleaveRows(s[0], s[2] * s[3], c));
}

Tensor DepthwiseAsBytes(const Tensor& packed) {
  CheckRank(packed, 4);
  SLIPWAY_CHECK(packed.dtype() == DataType::kInt16, "these weights are not of 16 bits");
  return ComputedConstant(packed, {DataType::kInt8, packed.shape()},
                          [](const Tensor& from, Tensor& to) {
                            const absl::Span<const int16_t> source = from.values<int16_t>();
                            const absl::Span<int8_t> bytes = to.mutable_values<int8_t>();
                            for (size_t i = 0; i < source.size(); ++i) {
                              bytes[i] = static_cast<int8_t>(source[i]);
                            }
                          });
}

Tensor SumsOfDepthwise(const Tensor& packed, int32_t factor) {
  CheckRank(packed, 4);
  const int64_t c = packed.shape()[3];
  const int64_t each_block = packed.num_elements() / packed.shape()[0];
  return ComputedConstant(
      packed, {DataType::kInt32, {packed.shape()[0] * c}}, [=](const Tensor& from, Tensor& to) {
        const absl::Span<const int16_t> source = from.values<int16_t>();
        const absl::Span<int32_t> sums = to.mutable_values<int32_t>();
        for (int64_t i = 0; i < from.num_elements(); ++i) {
          int32_t& sum = sums[i / each_block * c + i % c];
          sum =
              static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(source[i]) *
                                                                    static_cast<uint32_t>(factor));
        }
      });
}

Tensor WinogradWeights(const Tensor& packed, int64_t m) {
  CheckFloatOfRank(packed, 6);
  const kernels::WinogradMatrices* const matrices = kernels::FindWinograd(m);
  const Shape& s = packed.shape();  // [Co/co, Ci/ci, 3, 3, ci, co]
  SLIPWAY_CHECK(
      matrices != nullptr && s[2] == kernels::kWinogradKernel && s[3] == kernels::kWinogradKernel,
      "there are no such tiles");
  return Packed(packed, {m + 2, m + 2, s[0], s[1], s[4], s[5]},
                [=, blocks = s[0] * s[1], square = s[4] * s[5]](const float* from, float* to) {
                  for (int64_t block = 0; block < blocks; ++block) {
                    kernels::TransformWinogradWeights(*matrices, square, from + block * square * 9,
                                                      square, to + block * square, blocks * square);
                  }
                });
}

Tensor StrassenWeights(const Tensor& packed) {
  const Shape& s = packed.shape();
  CheckFloatOfRank(packed, s.size() == 3 ? 3 : 6);
  const int64_t depth = packed.num_elements() / (s[0] * s.back());
  SLIPWAY_CHECK(s[0] % 2 == 0 && depth % 2 == 0, "there are no halves");
  const int64_t quarter = depth / 2 * s.back();
  return Packed(packed, {s[0] / 2, kStrassenProducts, depth / 2, s.back()},
                [pairs = s[0] / 2, quarter](const float* from, float* to) {
                  for (int64_t pair = 0; pair < pairs; ++pair, from += 4 * quarter) {
                    const float* const quarters[kStrassenQuarters] = {
                        from, from + 2 * quarter, from + quarter, from + 3 * quarter};
                    for (const auto& row : kStrassen.right) {
                      std::fill_n(to, quarter, 0.0f);
                      // Of two terms at most: rounded once.
                      for (int q = 0; q < kStrassenQuarters; ++q) {
                        if (row[q] == 0) continue;
                        const auto factor = static_cast<float>(row[q]);
                        for (int64_t i = 0; i < quarter; ++i) to[i] += factor * quarters[q][i];
                      }
                      to += quarter;
                    }
                  }
                });
}

Tensor PackMatrix(const Tensor& matrix, int64_t n) {
  CheckRank(matrix, 2);
  const int64_t rows = matrix.shape()[0];
  const int64_t columns = matrix.shape()[1];
  const int64_t panels = (columns + n - 1) / n;
  const int64_t pair = PairOf(matrix);
  SLIPWAY_CHECK(rows % pair == 0, "pairs do not divide the depth");
  if (pair > 1) {
    return Rearranged(matrix, {panels, rows / pair, n, pair}, [=](const auto& next) {
      for (int64_t panel = 0; panel < panels * n; panel += n) {
        for (int64_t r = 0; r < rows; r += pair) {
          for (int64_t c = panel; c < panel + n; ++c) {
            for (int64_t p = r; p < r + pair; ++p) next(c < columns ? p * columns + c : -1);
          }
        }
      }
    });
  }
  CheckFloatOfRank(matrix, 2);
  return Packed(matrix, {panels, rows, n}, [=](const float* from, float* to) {
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t width = std::min(n, columns - p * n);
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(from + r * columns + p * n, width, to + (p * rows + r) * n);
      }
    }
  });
}

Tensor Transposed(const Tensor& matrix) {
  CheckRank(matrix, 2);
  return Rearranged(matrix, {matrix.shape()[1], matrix.shape()[0]},
                    [rows = matrix.shape()[0], columns = matrix.shape()[1]](const auto& next) {
                      for (int64_t c = 0; c < columns; ++c) {
                        for (int64_t r = 0; r < rows; ++r) next(r * columns + c);
                      }
                    });
}

}  // namespace slipway
