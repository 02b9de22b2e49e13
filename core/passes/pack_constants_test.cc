#include "core/passes/pack_constants.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/tensor/float16.h"

namespace slipway {
namespace {

// 0, 1, 2, ... so that a value is its index.
Tensor Counting(const Shape& shape) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, shape);
  float next = 0;
  for (float& value : tensor.mutable_values<float>()) value = next++;
  return tensor;
}

float At(const Tensor& tensor, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at = at * tensor.shape()[d] + index[d];
  return tensor.values<float>()[at];
}

TEST(PackConstants, Channels) {
  const Tensor plain = Counting({2, 6, 2, 3});
  const Tensor packed = PackChannels(plain, 3);
  ASSERT_EQ(packed.shape(), (Shape{2, 2, 2, 3, 3}));
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t c = 0; c < 6; ++c) {
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t w = 0; w < 3; ++w) {
          EXPECT_EQ(At(packed, {n, c / 3, h, w, c % 3}), At(plain, {n, c, h, w}));
        }
      }
    }
  }
}

TEST(PackConstants, ConvWeights) {
  const Tensor plain = Counting({4, 6, 1, 2});
  const Tensor packed = PackConvWeights(plain, 3, 2);
  ASSERT_EQ(packed.shape(), (Shape{2, 2, 1, 2, 3, 2}));
  const Tensor for_plain = PackConvWeightsForPlainInput(plain, 2);
  ASSERT_EQ(for_plain.shape(), (Shape{2, 6, 1, 2, 2}));
  for (int64_t o = 0; o < 4; ++o) {
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t k = 0; k < 2; ++k) {
        EXPECT_EQ(At(packed, {o / 2, i / 3, 0, k, i % 3, o % 2}), At(plain, {o, i, 0, k}));
        EXPECT_EQ(At(for_plain, {o / 2, i, 0, k, o % 2}), At(plain, {o, i, 0, k}));
      }
    }
  }
}

TEST(PackConstants, PairsOfBfloat16) {
  const Tensor plain = Counting({2, 4, 1, 2});
  const Tensor packed = PackedAsBfloat16(PackConvWeights(plain, 4, 2));
  ASSERT_EQ(packed.shape(), (Shape{1, 1, 1, 2, 2, 2, 2}));
  ASSERT_EQ(packed.dtype(), DataType::kBfloat16);
  const auto* const bits = reinterpret_cast<const uint16_t*>(packed.bytes().data());
  for (int64_t o = 0; o < 2; ++o) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t k = 0; k < 2; ++k) {
        EXPECT_EQ(Bfloat16ToFloat(bits[((k * 2 + i / 2) * 2 + o) * 2 + i % 2]),
                  At(plain, {o, i, 0, k}));
      }
    }
  }
}

TEST(PackConstants, FoursOfBytes) {
  Tensor plain = Tensor::Zeros(DataType::kInt16, {4, 8, 1, 2});
  for (int64_t i = 0; i < plain.num_elements(); ++i) {
    plain.mutable_values<int16_t>()[i] = static_cast<int16_t>(i * 2 - 64);
  }
  const Tensor pairs = PackConvWeights(plain, 8, 2);
  const Tensor packed = PackedAsBytes(pairs);
  const Tensor sums = SumsOfPacked(pairs, 4, -3);
  ASSERT_EQ(packed.shape(), (Shape{2, 1, 1, 2, 2, 2, 4}));
  ASSERT_EQ(sums.shape(), (Shape{4}));
  for (int64_t o = 0; o < 4; ++o) {
    int32_t sum = 0;
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t k = 0; k < 2; ++k) {
        const int16_t weight = plain.values<int16_t>()[(o * 8 + i) * 2 + k];
        const int64_t at = ((((o / 2) * 2 + k) * 2 + i / 4) * 2 + o % 2) * 4 + i % 4;
        EXPECT_EQ(packed.values<int8_t>()[at], weight);
        sum += weight;
      }
    }
    EXPECT_EQ(sums.values<int32_t>()[o], -3 * sum);
  }
}

// A matrix of 8 x 3 in panels of two columns, the last of which has one that is none.
TEST(PackConstants, PanelsOfIntegers) {
  Tensor plain = Tensor::Zeros(DataType::kInt16, {8, 3});
  for (int64_t i = 0; i < plain.num_elements(); ++i) {
    plain.mutable_values<int16_t>()[i] = static_cast<int16_t>(i * 5 - 60);
  }
  const Tensor pairs = PackMatrix(plain, 2);
  const Tensor fours = PackedAsBytes(pairs);
  const Tensor sums = SumsOfPacked(pairs, 3, 2);
  ASSERT_EQ(pairs.shape(), (Shape{2, 4, 2, 2}));
  ASSERT_EQ(fours.shape(), (Shape{2, 2, 2, 4}));
  ASSERT_EQ(sums.shape(), (Shape{3}));
  for (int64_t column = 0; column < 4; ++column) {
    int32_t sum = 0;
    for (int64_t k = 0; k < 8; ++k) {
      const int16_t weight = column < 3 ? plain.values<int16_t>()[k * 3 + column] : int16_t{0};
      const int64_t panel = column / 2;
      EXPECT_EQ(pairs.values<int16_t>()[((panel * 4 + k / 2) * 2 + column % 2) * 2 + k % 2],
                weight);
      EXPECT_EQ(fours.values<int8_t>()[((panel * 2 + k / 4) * 2 + column % 2) * 4 + k % 4], weight);
      sum += weight;
    }
    if (column < 3) EXPECT_EQ(sums.values<int32_t>()[column], 2 * sum);
  }
  const Tensor transposed = Transposed(plain);
  ASSERT_EQ(transposed.shape(), (Shape{3, 8}));
  for (int64_t i = 0; i < 24; ++i) {
    EXPECT_EQ(transposed.values<int16_t>()[i % 3 * 8 + i / 3], plain.values<int16_t>()[i]);
  }
}

TEST(PackConstants, PairsOfIntegers) {
  Tensor plain = Tensor::Zeros(DataType::kInt16, {4, 4, 2, 3});
  for (int64_t i = 0; i < plain.num_elements(); ++i) {
    plain.mutable_values<int16_t>()[i] = static_cast<int16_t>(i);
  }
  const auto at = [](const Tensor& tensor, const std::vector<int64_t>& index) {
    int64_t place = 0;
    for (size_t d = 0; d < index.size(); ++d) place = place * tensor.shape()[d] + index[d];
    return tensor.values<int16_t>()[place];
  };
  const Tensor packed = PackConvWeights(plain, 4, 2);
  ASSERT_EQ(packed.shape(), (Shape{2, 1, 2, 3, 2, 2, 2}));
  const Tensor for_plain = PackConvWeightsForPlainInput(plain, 2);
  ASSERT_EQ(for_plain.shape(), (Shape{2, 4, 2, 2, 2, 2}));
  for (int64_t o = 0; o < 4; ++o) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t w = 0; w < 3; ++w) {
          const int16_t expected = at(plain, {o, i, h, w});
          EXPECT_EQ(at(packed, {o / 2, 0, h, w, i / 2, o % 2, i % 2}), expected);
          EXPECT_EQ(at(for_plain, {o / 2, i, h, w / 2, o % 2, w % 2}), expected);
        }
        EXPECT_EQ(at(for_plain, {o / 2, i, h, 1, o % 2, 1}), 0);
      }
    }
  }
}

TEST(PackConstants, DepthwiseWeights) {
  const Tensor plain = Counting({4, 1, 2, 2});
  const Tensor packed = PackDepthwiseWeights(plain, 2);
  ASSERT_EQ(packed.shape(), (Shape{2, 2, 2, 2}));
  for (int64_t c = 0; c < 4; ++c) {
    EXPECT_EQ(At(packed, {c / 2, 1, 0, c % 2}), At(plain, {c, 0, 1, 0}));
  }
}

TEST(PackConstants, MovesElementsOfAnyType) {
  const Tensor bytes = Tensor::Of<int8_t>({1, 4, 1, 1}, {-1, 2, -3, 4});
  const Tensor packed = PackChannels(bytes, 2);
  EXPECT_EQ(packed.shape(), (Shape{1, 2, 1, 1, 2}));
  EXPECT_EQ(packed.bytes(), bytes.bytes());
  const Tensor rows = ExtendByZeros(Tensor::Of<int16_t>({3}, {5, 6, -7}), 0, 4);
  EXPECT_EQ(std::vector<int16_t>(rows.values<int16_t>().begin(), rows.values<int16_t>().end()),
            (std::vector<int16_t>{5, 6, -7, 0}));
}

TEST(PackConstants, DimensionsAreFilledUpWithZeros) {
  const Tensor plain = Counting({2, 3, 1, 2});
  const Tensor packed = ExtendByZeros(plain, 1, 4);
  ASSERT_EQ(packed.shape(), (Shape{2, 4, 1, 2}));
  for (int64_t o = 0; o < 2; ++o) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t k = 0; k < 2; ++k) {
        EXPECT_EQ(At(packed, {o, i, 0, k}), i < 3 ? At(plain, {o, i, 0, k}) : 0);
      }
    }
  }
}

TEST(PackConstants, MatrixIsFilledUpWithZeros) {
  const Tensor plain = Counting({2, 5});
  const Tensor packed = PackMatrix(plain, 4);
  ASSERT_EQ(packed.shape(), (Shape{2, 2, 4}));
  for (int64_t k = 0; k < 2; ++k) {
    for (int64_t n = 0; n < 8; ++n) {
      EXPECT_EQ(At(packed, {n / 4, k, n % 4}), n < 5 ? At(plain, {k, n}) : 0);
    }
  }
}

}  // namespace
}  // namespace slipway
