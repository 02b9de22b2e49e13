// Convolutions and poolings against the definition: one sum an output, every index worked out anew.
#include "core/kernels/convolution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/pooling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::kernels {
namespace {

using ::testing::DoubleNear;
using ::testing::NanSensitiveDoubleNear;
using ::testing::Pointwise;

class KernelTest : public ::testing::Test {
 protected:
  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  std::vector<double> Values(int64_t count) {
    std::vector<double> values(count);
    std::uniform_real_distribution<double> distribution(-1, 1);
    for (double& value : values) value = distribution(random_);
    return values;
  }
  // A dimension whose window fits.
  WindowDimension Dimension() {
    while (true) {
      WindowDimension d;
      d.input = Pick(1, 9);
      d.kernel = Pick(1, 4);
      d.stride = Pick(1, 3);
      d.dilation = Pick(1, 3);
      d.pad_begin = Pick(0, 3);
      d.pad_end = Pick(0, 3);
      const int64_t reach = (d.kernel - 1) * d.dilation + 1;
      if (reach > d.input + d.pad_begin + d.pad_end) continue;
      d.output = (d.input + d.pad_begin + d.pad_end - reach) / d.stride + 1;
      return d;
    }
  }
  std::mt19937 random_{11};
};

// Input index of output `o` and window element `k`, or -1 in the padding.
int64_t At(const WindowDimension& d, int64_t o, int64_t k) {
  const int64_t at = o * d.stride + k * d.dilation - d.pad_begin;
  return at >= 0 && at < d.input ? at : -1;
}

std::vector<double> ConvolutionByDefinition(const ConvolutionShape& s, const std::vector<double>& x,
                                            const std::vector<double>& w,
                                            const std::vector<double>& bias) {
  const int64_t ci = s.in_block;
  const int64_t co = s.out_block;
  const int64_t in_per_group = s.in_channels / s.group;
  std::vector<double> y(s.batch * s.out_channels * s.depth.output * s.height.output *
                        s.width.output);
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t o = 0; o < s.out_channels; ++o) {
      for (int64_t od = 0; od < s.depth.output; ++od) {
        for (int64_t oh = 0; oh < s.height.output; ++oh) {
          for (int64_t ow = 0; ow < s.width.output; ++ow) {
            double sum = bias[o];
            for (int64_t i = 0; i < in_per_group; ++i) {
              const int64_t c = o / (s.out_channels / s.group) * in_per_group + i;
              for (int64_t kd = 0; kd < s.depth.kernel; ++kd) {
                for (int64_t kh = 0; kh < s.height.kernel; ++kh) {
                  for (int64_t kw = 0; kw < s.width.kernel; ++kw) {
                    const int64_t d = At(s.depth, od, kd);
                    const int64_t h = At(s.height, oh, kh);
                    const int64_t v = At(s.width, ow, kw);
                    if (d < 0 || h < 0 || v < 0) continue;
                    const int64_t x_at =
                        ((((n * (s.in_channels / ci) + c / ci) * s.depth.input + d) *
                              s.height.input +
                          h) *
                             s.width.input +
                         v) *
                            ci +
                        c % ci;
                    const int64_t w_at =
                        (((((o / co * (in_per_group / ci) + i / ci) * s.depth.kernel + kd) *
                               s.height.kernel +
                           kh) *
                              s.width.kernel +
                          kw) *
                             ci +
                         i % ci) *
                            co +
                        o % co;
                    sum += x[x_at] * w[w_at];
                  }
                }
              }
            }
            y[((((n * (s.out_channels / co) + o / co) * s.depth.output + od) * s.height.output +
                oh) *
                   s.width.output +
               ow) *
                  co +
              o % co] = sum;
          }
        }
      }
    }
  }
  return y;
}

TEST_F(KernelTest, ConvolutionsAreTheirDefinition) {
  for (int turn = 0; turn < 300; ++turn) {
    ConvolutionShape s;
    s.batch = Pick(1, 2);
    s.group = Pick(1, 3);
    s.in_block = Pick(1, 3);
    s.out_block = Pick(1, 3);
    s.in_channels = s.group * s.in_block * Pick(1, 2);
    s.out_channels = s.group * s.out_block * Pick(1, 2);
    if (turn % 3 == 0) s.depth = Dimension();
    s.height = Dimension();
    s.width = Dimension();
    const int64_t kernel = s.depth.kernel * s.height.kernel * s.width.kernel;
    const auto x = Values(s.batch * s.in_channels * s.depth.input * s.height.input * s.width.input);
    const auto w = Values(s.out_channels * s.in_channels / s.group * kernel);
    const auto bias = Values(s.out_channels);
    const std::vector<double> expected = ConvolutionByDefinition(s, x, w, bias);
    std::vector<double> y(expected.size(), std::numeric_limits<double>::quiet_NaN());
    Convolution(s, x.data(), w.data(), bias.data(), y.data());
    ASSERT_THAT(y, Pointwise(DoubleNear(1e-12), expected)) << "turn " << turn;
  }
}

// [outer, steps, co] as [outer, steps / 2, co, 2].
std::vector<double> InPairs(const std::vector<double>& w, int64_t steps, int64_t co) {
  std::vector<double> pairs;
  for (size_t block = 0; block < w.size(); block += steps * co) {
    for (int64_t step = 0; step < steps; step += 2) {
      for (int64_t o = 0; o < co; ++o) {
        for (int64_t i = 0; i < 2; ++i) pairs.push_back(w[block + (step + i) * co + o]);
      }
    }
  }
  return pairs;
}

TEST_F(KernelTest, ConvolutionsOfIntegersAreExact) {
  const auto whole = [this](int64_t count) {
    std::vector<double> values = Values(count);
    for (double& value : values) value = std::round(value * 255);
    return values;
  };
  const auto narrow = [](const std::vector<double>& values) {
    return std::vector<int16_t>(values.begin(), values.end());
  };
  for (int turn = 0; turn < 200; ++turn) {
    ConvolutionShape s;
    s.group = Pick(1, 2);
    s.in_block = turn % 2 == 0 ? 1 : 2 * Pick(1, 2);
    s.out_block = turn % 4 == 0 ? 1 : Pick(2, 3);
    s.in_channels = s.group * s.in_block * Pick(1, 2);
    s.out_channels = s.group * s.out_block * Pick(1, 2);
    s.terms = s.out_block == 1 ? 1 : 2;
    s.height = Dimension();
    do {
      s.width = Dimension();
    } while (s.in_block == 1 && s.out_block > 1 && s.width.kernel % 2 != 0);
    const int64_t kernel = s.height.kernel * s.width.kernel;
    const auto x = whole(s.in_channels * s.height.input * s.width.input);
    const auto w = whole(s.out_channels * s.in_channels / s.group * kernel);
    const std::vector<double> expected =
        ConvolutionByDefinition(s, x, w, std::vector<double>(s.out_channels, 0));
    const std::vector<int16_t> packed = narrow(
        s.out_block == 1 ? w
                         : InPairs(w, s.in_block == 1 ? s.width.kernel : s.in_block, s.out_block));
    std::vector<int32_t> y(expected.size());
    Convolution<int16_t, int32_t>(s, narrow(x).data(), packed.data(), nullptr, y.data());
    ASSERT_EQ(std::vector<double>(y.begin(), y.end()), expected) << "turn " << turn;
  }
}

TEST_F(KernelTest, SumsOfIntegersWrapAround) {
  ConvolutionShape s;
  s.in_channels = 3;
  const std::vector<int16_t> x(3, -32768);
  int32_t y = 0;
  Convolution<int16_t, int32_t>(s, x.data(), x.data(), nullptr, &y);
  EXPECT_EQ(y, -(1 << 30));
}

TEST_F(KernelTest, DepthwiseConvolutionsAreGroupedOnes) {
  for (int turn = 0; turn < 100; ++turn) {
    ConvolutionShape s;
    s.batch = Pick(1, 2);
    s.in_channels = s.out_channels = s.group = Pick(1, 5);
    s.height = Dimension();
    s.width = Dimension();
    const auto x = Values(s.batch * s.in_channels * s.height.input * s.width.input);
    const auto w = Values(s.in_channels * s.height.kernel * s.width.kernel);
    const auto bias = Values(s.in_channels);
    const std::vector<double> expected = ConvolutionByDefinition(s, x, w, bias);
    std::vector<double> y(expected.size());
    DepthwiseConvolution(s, x.data(), w.data(), bias.data(), y.data());
    ASSERT_THAT(y, Pointwise(DoubleNear(1e-12), expected)) << "turn " << turn;

    std::vector<int16_t> whole_x, whole_w;
    for (const double value : x) whole_x.push_back(static_cast<int16_t>(value * 255));
    for (const double value : w) whole_w.push_back(static_cast<int16_t>(value * 127));
    std::vector<int32_t> sums(expected.size()), grouped(expected.size());
    DepthwiseConvolution<int16_t, int32_t>(s, whole_x.data(), whole_w.data(), nullptr, sums.data());
    Convolution<int16_t, int32_t>(s, whole_x.data(), whole_w.data(), nullptr, grouped.data());
    ASSERT_EQ(sums, grouped) << "turn " << turn;
  }
}

TEST_F(KernelTest, PoolsAreTheirDefinition) {
  for (int turn = 0; turn < 300; ++turn) {
    PoolingShape s;
    s.planes = Pick(1, 3);
    s.block = Pick(1, 3);
    s.count_include_pad = turn % 2 == 0;
    s.height = Dimension();
    s.width = Dimension();
    // As ceil_mode does: one more window, partly beyond the padding.
    if (s.width.stride > 1 && turn % 3 == 0) ++s.width.output;
    const auto x = Values(s.planes * s.height.input * s.width.input * s.block);
    const int64_t outputs = s.planes * s.height.output * s.width.output * s.block;
    std::vector<double> highest(outputs, -std::numeric_limits<double>::infinity());
    std::vector<double> mean(outputs, 0);
    for (int64_t p = 0; p < s.planes; ++p) {
      for (int64_t oh = 0; oh < s.height.output; ++oh) {
        for (int64_t ow = 0; ow < s.width.output; ++ow) {
          for (int64_t c = 0; c < s.block; ++c) {
            const int64_t out = ((p * s.height.output + oh) * s.width.output + ow) * s.block + c;
            int64_t count = 0;
            for (int64_t kh = 0; kh < s.height.kernel; ++kh) {
              for (int64_t kw = 0; kw < s.width.kernel; ++kw) {
                const int64_t h = At(s.height, oh, kh);
                const int64_t v = At(s.width, ow, kw);
                const bool padded =
                    oh * s.height.stride + kh * s.height.dilation - s.height.pad_begin <
                        s.height.input + s.height.pad_end &&
                    ow * s.width.stride + kw * s.width.dilation - s.width.pad_begin <
                        s.width.input + s.width.pad_end;
                if (s.count_include_pad && padded) ++count;
                if (h < 0 || v < 0) continue;
                if (!s.count_include_pad) ++count;
                const double value =
                    x[((p * s.height.input + h) * s.width.input + v) * s.block + c];
                highest[out] = std::max(highest[out], value);
                mean[out] += value;
              }
            }
            mean[out] = count == 0 ? std::numeric_limits<double>::quiet_NaN() : mean[out] / count;
          }
        }
      }
    }
    std::vector<double> y(outputs);
    MaxPool(s, x.data(), y.data());
    ASSERT_EQ(y, highest) << "turn " << turn;
    AveragePool(s, x.data(), y.data());
    ASSERT_THAT(y, Pointwise(NanSensitiveDoubleNear(1e-12), mean)) << "turn " << turn;
  }
}

}  // namespace
}  // namespace slipway::kernels
