// Transforms of every length against each other, and cases that ONNX's own leave out.
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// The transform of `signal`, real and imaginary parts in turn, by the reference.
std::vector<double> Transformed(const Tensor& signal, const std::string& attributes) {
  const OperatorRegistry registry = StandardOperators();
  const auto graph = ParseGraph("graph \"t\" (%x) -> (%y) { %y = DFT(%x) {" + attributes + "} }");
  const auto outputs = Reference(registry).Evaluate(*graph, {signal});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (!outputs.ok()) return {};
  const auto values = (*outputs)[0].values<double>();
  return std::vector<double>(values.begin(), values.end());
}

TEST(SignalTest, TransformsOfEveryLengthAreTheirDefinition) {
  for (const int64_t n : {1, 2, 3, 8, 31, 32, 33, 64, 97, 100, 243}) {
    std::vector<double> x;
    for (int64_t i = 0; i < 2 * n; ++i) x.push_back(std::sin(static_cast<double>(3 * i * i + 1)));
    const Tensor signal = Tensor::Of<double>({1, n, 2}, x);
    const std::vector<double> y = Transformed(signal, "");
    ASSERT_EQ(y.size(), x.size());
    for (int64_t k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += std::complex<double>(x[2 * i], x[2 * i + 1]) *
               std::polar(1.0, -2 * M_PI * static_cast<double>(k * i % n) / static_cast<double>(n));
      }
      EXPECT_NEAR(y[2 * k], sum.real(), 1e-11) << n << " " << k;
      EXPECT_NEAR(y[2 * k + 1], sum.imag(), 1e-11) << n << " " << k;
    }
    const std::vector<double> back = Transformed(Tensor::Of<double>({1, n, 2}, y), "inverse = 1");
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 1e-12) << n;
  }
}

TEST(SignalTest, HalfASpectrumIsEnoughForRealNumbers) {
  EXPECT_EQ(ValuesOf("const %x: f64[1, 4, 1] = {1, 0, 0, 0}\n%s = DFT(%x) {onesided = 1}\n"
                     "%y = DFT(%s) {onesided = 1, inverse = 1}"),
            "f64[1, 4, 1] = {1.0, 0.0, 0.0, 0.0}");
  EXPECT_EQ(ValuesOf("const %x: f64[1, 3, 1] = {2, 2, 2}\nconst %n: i32[] = {5}\n"
                     "%s = DFT(%x, %n) {onesided = 1}\n%y = Shape(%s)"),
            "i64[3] = {1, 3, 2}");
}

TEST(SignalTest, RefusesWhatIsNotDefined) {
  const std::string x = "const %x: f32[1, 4, 2] = {1, 2, 3, 4, 5, 6, 7, 8}\n";
  EXPECT_THAT(ValuesOf(x + "%y = DFT(%x) {onesided = 1}"), HasSubstr("is not defined"));
  EXPECT_THAT(ValuesOf(x + "const %n: i64[] = {0}\n%y = DFT(%x, %n)"),
              HasSubstr("the length (input 1) is 0"));
  EXPECT_THAT(ValuesOf(x + "const %a: i64[] = {-1}\n%y = DFT(%x, _, %a)"),
              HasSubstr("the axis is that of real and imaginary parts"));
  EXPECT_THAT(ValuesOf("const %x: f32[1, 3] = {1, 2, 3}\n%y = DFT(%x)"),
              HasSubstr("must hold 1 or 2 numbers last"));
  EXPECT_THAT(ValuesOf(x + "const %s: i64[] = {0}\n%y = STFT(%x, %s) {onesided = 0}"),
              HasSubstr("the frame step (input 1) is 0"));
  EXPECT_THAT(ValuesOf(x + "const %s: i64[] = {1}\nconst %l: i64[] = {5}\n"
                           "%y = STFT(%x, %s, _, %l) {onesided = 0}"),
              HasSubstr("cannot be made of a signal of [1, 4, 2]"));
}

TEST(SignalTest, WindowsAndMelWeights) {
  EXPECT_EQ(ValuesOf("const %n: i32[] = {4}\n%y = HannWindow(%n) {output_datatype = 11}"),
            "f64[4] = {0.0, 0.4999999999999999, 1.0, 0.5000000000000001}");
  EXPECT_EQ(ValuesOf("const %n: i64[] = {1}\n%y = HannWindow(%n) {periodic = 0}"), "f32[1] = {1}");
  EXPECT_EQ(ValuesOf("const %n: i64[] = {0}\n%y = BlackmanWindow(%n)"), "f32[0] = {}");
  EXPECT_THAT(ValuesOf("const %n: i64[] = {-1}\n%y = HammingWindow(%n)"),
              HasSubstr("the size (input 0) is -1"));
  EXPECT_THAT(ValuesOf("const %b: i64[] = {2}\nconst %n: i64[] = {16}\nconst %r: i64[] = {100}\n"
                       "const %l: f32[] = {0}\nconst %u: f32[] = {9000}\n"
                       "%y = MelWeightMatrix(%b, %n, %r, %l, %u)"),
              HasSubstr("the edges do not lie in order"));
}

TEST(SignalTest, CausalConvolutionsCarryTheirState) {
  const std::string x =
      "const %x: f32[1, 1, 2] = {1, 2}\nconst %w: f32[1, 1, 4] = {1000, 100, 10, 1}\n";
  EXPECT_EQ(ValuesOf(x + "%y, %s = CausalConvWithState(%x, %w)"),
            "f32[1, 1, 2] = {1, 12}; f32[1, 1, 3] = {0, 1, 2}");
  EXPECT_EQ(ValuesOf(x + "const %p: f32[1, 1, 3] = {7, 8, 9}\n"
                         "%y, %s = CausalConvWithState(%x, %w, _, %p)"),
            "f32[1, 1, 2] = {7891, 8912}; f32[1, 1, 3] = {9, 1, 2}");
  EXPECT_THAT(ValuesOf(x + "%y = CausalConvWithState(%x, %w) {activation = \"relu\"}"),
              HasSubstr("not none, silu or swish"));
  EXPECT_THAT(ValuesOf(x + "%y = CausalConvWithState(%x, %w, %x)"), HasSubstr("do not fit"));
}

}  // namespace
}  // namespace slipway
