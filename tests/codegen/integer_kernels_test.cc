// Convolutions and matrix products of integers of 16 and of 8 bits against the reference, and what follows on them.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/target/target.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

constexpr DataType kFloat = DataType::kFloat32;
constexpr DataType kShort = DataType::kInt16;

int64_t BlockOf(const DeviceTarget& target) {
  return target.level == 4 ? 16 : target.level == 3 ? 8 : 4;
}

struct ConvCase {
  int64_t size, kernel, stride, pad;
};
constexpr ConvCase kConvCases[] = {{1, 1, 1, 0}, {5, 1, 1, 1},  {7, 1, 2, 0},
                                   {7, 3, 1, 1}, {17, 3, 2, 1}, {29, 3, 1, 1}};

Attributes ConvAttributes(const ConvCase& c) {
  return {{"strides", Ints({c.stride, c.stride})}, {"pads", Ints({c.pad, c.pad, c.pad, c.pad})}};
}

void AddBlocked(KernelSuite& suite, const ConvCase& c, int64_t block, int64_t in_blocks,
                int64_t out_blocks, int64_t group) {
  suite.Add(absl::StrCat("blocked", c.size, "k", c.kernel, "g", group, "n", out_blocks),
            [&](GraphBuilder& b) {
              const ValueId x = b.Input("x", kShort, {2, in_blocks, c.size, c.size, block});
              const ValueId w =
                  b.Input("w", kShort,
                          {out_blocks, in_blocks / group, c.kernel, c.kernel, block / 2, block, 2});
              Attributes attributes = ConvAttributes(c);
              attributes.Set("group", group);
              b.Output(b.Add("slipway.ConvNCHWc", {x, w}, attributes));
            });
}

template <typename T>
Tensor BytesOf(Shape shape, uint32_t seed) {
  std::vector<T> values(NumElements(shape));
  uint32_t state = seed * 2654435761u + 1;
  for (T& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(state >> 24);
  }
  return Tensor::Of<T>(std::move(shape), std::move(values));
}

// Bytes, all of whose values there are.
void AddBytes(KernelSuite& suite, const ConvCase& c, int64_t block, int64_t in_blocks,
              int64_t out_blocks, int64_t group) {
  const Shape x_shape = {2, in_blocks, c.size, c.size, block};
  const Shape w_shape = {out_blocks, in_blocks / group, c.kernel, c.kernel, block / 4, block, 4};
  suite.Add(absl::StrCat("bytes", c.size, "k", c.kernel, "g", group, "n", out_blocks),
            [&](GraphBuilder& b) {
              const ValueId x = b.Input("x", DataType::kUint8, x_shape);
              const ValueId w = b.Input("w", DataType::kInt8, w_shape);
              const ValueId bias = b.Input("bias", DataType::kInt32, {out_blocks * block});
              Attributes attributes = ConvAttributes(c);
              attributes.Set("group", group);
              attributes.Set("zero", 7 * c.size % 256);
              b.Output(b.Add("slipway.ConvNCHWc", {x, w, bias}, attributes));
            },
            {BytesOf<uint8_t>(x_shape, 1), BytesOf<int8_t>(w_shape, 2)});
}

void AddDepthwiseBytes(KernelSuite& suite, const ConvCase& c, int64_t block, bool has_bias) {
  const Shape x_shape = {2, 3, c.size, c.size, block};
  const Shape w_shape = {3, c.kernel, c.kernel, block};
  suite.Add(absl::StrCat("depthwise_bytes", c.size, "k", c.kernel, "s", c.stride, has_bias),
            [&](GraphBuilder& b) {
              std::vector<ValueId> inputs = {b.Input("x", DataType::kUint8, x_shape),
                                             b.Input("w", DataType::kInt8, w_shape)};
              if (has_bias) inputs.push_back(b.Input("bias", DataType::kInt32, {3 * block}));
              Attributes attributes = ConvAttributes(c);
              attributes.Set("zero", has_bias ? 7 * c.size : int64_t{0});
              b.Output(b.Add("slipway.DepthwiseConvNCHWc", inputs, attributes));
            },
            {BytesOf<uint8_t>(x_shape, 1), BytesOf<int8_t>(w_shape, 2)});
}

int64_t PanelOf(const DeviceTarget& target) { return target.level >= 3 ? 16 : 8; }

struct GemmCase {
  int64_t rows, depth, columns;
};
constexpr GemmCase kGemmCases[] = {{1, 4, 8},    {1, 64, 48},   {3, 12, 5},   {7, 64, 33},
                                   {33, 64, 96}, {40, 128, 47}, {64, 256, 64}};

Tensor ShortsOf(Shape shape, uint32_t seed) {
  const Tensor bytes = BytesOf<int8_t>(shape, seed);
  const absl::Span<const int8_t> values = bytes.values<int8_t>();
  std::vector<int16_t> shorts(values.begin(), values.end());
  for (int16_t& value : shorts) value = static_cast<int16_t>(value * 257);
  return Tensor::Of<int16_t>(std::move(shape), std::move(shorts));
}

// As they are, and packed in panels of so many columns. Sums of the largest wrap around.
void AddShortGemms(KernelSuite& suite, int64_t panel) {
  for (const GemmCase& c : kGemmCases) {
    const Shape x_shape = {c.rows, c.depth};
    const Shape w_shape = {c.depth, c.columns};
    suite.Add(absl::StrCat("gemm", c.rows, "x", c.depth, "x", c.columns),
              [&](GraphBuilder& b) {
                const ValueId x = b.Input("x", kShort, x_shape);
                b.Output(b.Add("slipway.IntegerGemm", {x, b.Input("w", kShort, w_shape)}));
              },
              {ShortsOf(x_shape, 1), ShortsOf(w_shape, 2)});
    const Shape packed_shape = {(c.columns + panel - 1) / panel, c.depth / 2, panel, 2};
    suite.Add(absl::StrCat("packed", c.rows, "x", c.depth, "x", c.columns),
              [&](GraphBuilder& b) {
                const ValueId x = b.Input("x", kShort, x_shape);
                const ValueId w = b.Input("w", kShort, packed_shape);
                b.Output(b.Add("slipway.GemmPacked", {x, w}, {{"columns", c.columns}}));
              },
              {ShortsOf(x_shape, 1), ShortsOf(packed_shape, 2)});
  }
}

void AddByteGemms(KernelSuite& suite, int64_t panel) {
  for (const GemmCase& c : kGemmCases) {
    const Shape x_shape = {c.rows, c.depth};
    const Shape w_shape = {(c.columns + panel - 1) / panel, c.depth / 4, panel, 4};
    for (const bool has_bias : {false, true}) {
      suite.Add(absl::StrCat("byte_gemm", c.rows, "x", c.depth, "x", c.columns, has_bias),
                [&](GraphBuilder& b) {
                  std::vector<ValueId> inputs = {b.Input("x", DataType::kUint8, x_shape),
                                                 b.Input("w", DataType::kInt8, w_shape)};
                  if (has_bias) inputs.push_back(b.Input("bias", DataType::kInt32, {c.columns}));
                  b.Output(b.Add("slipway.GemmPacked", inputs, {{"columns", c.columns}}));
                },
                {BytesOf<uint8_t>(x_shape, 1), BytesOf<int8_t>(w_shape, 2)});
    }
  }
}

// By every code; behind what makes codes, too.
void AddLookups(KernelSuite& suite, int64_t block) {
  const auto table = [](int64_t least, int64_t factor) {
    std::vector<int64_t> numbers(256);
    for (int64_t i = 0; i < 256; ++i) numbers[i] = least + i * factor % 256;
    return Ints(std::move(numbers));
  };
  for (const int64_t size : {1, 7, 64, 300}) {
    for (const DataType to : {DataType::kUint8, DataType::kInt8, DataType::kInt16}) {
      const Attributes attributes = {{"to", static_cast<int64_t>(to)},
                                     {"table", table(to == DataType::kUint8  ? 0
                                                     : to == DataType::kInt8 ? -128
                                                                             : 300,
                                                     77)}};
      suite.Add(absl::StrCat("lookup", size, Name(to)),
                [&](GraphBuilder& b) {
                  const ValueId x = b.Input("x", DataType::kUint8, {3, size});
                  b.Output(b.Add("slipway.Lookup", {x}, attributes));
                },
                {BytesOf<uint8_t>({3, size}, 1)});
      suite.Add(absl::StrCat("signed_lookup", size, Name(to)),
                [&](GraphBuilder& b) {
                  const ValueId x = b.Input("x", DataType::kInt8, {3, size});
                  b.Output(b.Add("slipway.Lookup", {x}, attributes));
                },
                {BytesOf<int8_t>({3, size}, 2)});
    }
    suite.Add(absl::StrCat("quantized_lookup", size), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 2, size, 2, block});
      const ValueId codes = b.Add("QuantizeLinear", {x, b.Constant("s", Tensor::Scalar(0.01f)),
                                                     b.Constant("z", Tensor::Scalar<uint8_t>(9))});
      b.Output(b.Add("slipway.Lookup", {codes}, {{"to", int64_t{2}}, {"table", table(0, 3)}}));
    });
  }
}

void AddAllBytes(KernelSuite& suite, int64_t block) {
  for (const ConvCase& c : kConvCases) AddBytes(suite, c, block, 2, 4, 1);
  for (const bool has_bias : {false, true}) {
    for (const ConvCase& c : kConvCases) AddDepthwiseBytes(suite, c, block, has_bias);
    AddDepthwiseBytes(suite, {29, 5, 1, 2}, block, has_bias);
    AddDepthwiseBytes(suite, {28, 5, 2, 2}, block, has_bias);
    AddDepthwiseBytes(suite, {8, 23, 1, 11}, block, has_bias);  // More products than f32 holds.
  }
  AddBytes(suite, {9, 3, 1, 1}, block, 1, 1, 1);
  AddBytes(suite, {9, 3, 1, 1}, block, 4, 6, 2);
  // The largest products: sums of four of them do not fit in 16 bits.
  const Shape x_shape = {1, 16, 4, 4, block};
  const Shape w_shape = {1, 16, 1, 1, block / 4, block, 4};
  for (const int8_t weight : {int8_t{-128}, int8_t{127}}) {
    suite.Add(absl::StrCat("largest_bytes", weight),
              [&](GraphBuilder& b) {
                const ValueId x = b.Input("x", DataType::kUint8, x_shape);
                const ValueId w = b.Input("w", DataType::kInt8, w_shape);
                b.Output(b.Add("slipway.ConvNCHWc", {x, w}));
              },
              {Tensor::Of<uint8_t>(x_shape, std::vector<uint8_t>(NumElements(x_shape), 255)),
               Tensor::Of<int8_t>(w_shape, std::vector<int8_t>(NumElements(w_shape), weight))});
  }
}

void AddAll(KernelSuite& suite, int64_t block) {
  for (const ConvCase& c : kConvCases) {
    AddBlocked(suite, c, block, 2, 4, 1);
    // Kernels of an even width, as pairs of columns need.
    suite.Add(absl::StrCat("stem", c.size, "k", c.kernel), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kShort, {1, 3, c.size, c.size + 1});
      const ValueId w = b.Input("w", kShort, {4, 3, c.kernel, (c.kernel + 1) / 2, block, 2});
      b.Output(b.Add("slipway.ConvNCHWc", {x, w}, ConvAttributes(c)));
    });
    suite.Add(absl::StrCat("depthwise", c.size, "k", c.kernel), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kShort, {1, 3, c.size, c.size, block});
      const ValueId w = b.Input("w", kShort, {3, c.kernel, c.kernel, block});
      b.Output(b.Add("slipway.DepthwiseConvNCHWc", {x, w}, ConvAttributes(c)));
    });
    suite.Add(absl::StrCat("plain", c.size, "k", c.kernel), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kShort, {2, 4, c.size, c.size});
      const ValueId w = b.Input("w", kShort, {6, 2, c.kernel, c.kernel});
      Attributes attributes = ConvAttributes(c);
      attributes.Set("group", int64_t{2});
      b.Output(b.Add("slipway.IntegerConv", {x, w}, attributes));
    });
  }
  AddBlocked(suite, {9, 3, 1, 1}, block, 1, 1, 1);
  AddBlocked(suite, {9, 3, 1, 1}, block, 4, 6, 2);
  for (const int64_t size : {1, 17, 20}) {
    const Attributes attributes = {
        {"kernel_shape", Ints({3, 3})}, {"strides", Ints({2, 2})}, {"pads", Ints({1, 1, 1, 1})}};
    suite.Add(absl::StrCat("pool", size), [&](GraphBuilder& b) {
      b.Output(b.Add("MaxPool", {b.Input("x", DataType::kUint8, {2, 3, size, size})}, attributes));
    });
    suite.Add(absl::StrCat("pool_blocked", size), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kShort, {1, 2, size, size, block});
      const ValueId low = b.Constant("low", Tensor::Scalar<int16_t>(4));
      b.Output(b.Add("slipway.MaxPoolNCHWc", {b.Add("Sub", {x, low})}, attributes));
    });
  }
  // Every number of bits counts: nothing saturates, and sums wrap around.
  const auto all = [](Shape shape, int16_t value) {
    return Tensor::Of<int16_t>(shape, std::vector<int16_t>(NumElements(shape), value));
  };
  for (const int16_t value : {int16_t{-255}, int16_t{-32768}}) {
    suite.Add(absl::StrCat("largest", -value),
              [&](GraphBuilder& b) {
                const ValueId x = b.Input("x", kShort, {1, 16, 4, 4, block});
                const ValueId w = b.Input("w", kShort, {1, 16, 1, 1, block / 2, block, 2});
                b.Output(b.Add("slipway.ConvNCHWc", {x, w}));
              },
              {all({1, 16, 4, 4, block}, value), all({1, 16, 1, 1, block / 2, block, 2}, value)});
  }
}

TEST(IntegerKernelsTest, AgreeWithTheReference) {
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    KernelSuite suite;
    AddAll(suite, BlockOf(target));
    AddShortGemms(suite, PanelOf(target));
    suite.Run(target);
  }
}

TEST(IntegerKernelsTest, OfBytesAgreeWithTheReference) {
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    KernelSuite suite;
    AddAllBytes(suite, BlockOf(target));
    AddByteGemms(suite, PanelOf(target));
    AddLookups(suite, BlockOf(target));
    suite.Run(target);
  }
}

TEST(IntegerKernelsTest, LookUpByPermutations) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("x86-64-v4-linux-vbmi"));
  if (!CheckRunsOn(target, HostTarget()).ok()) GTEST_SKIP() << "no VBMI here";
  KernelSuite suite;
  AddLookups(suite, 16);
  suite.Run(target.host());
}

// Blocks of channels of one register, of two and of half a one.
TEST(IntegerKernelsTest, OfBytesAgreeWithTheReferenceInTileRegisters) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("x86-64-v4-linux-amxint8"));
  if (!CheckRunsOn(target, HostTarget()).ok()) GTEST_SKIP() << "no AMX here";
  for (const int64_t block : {32, 64}) {
    KernelSuite suite;
    AddAllBytes(suite, block);
    for (const int64_t size : {3, 8, 14, 16, 18, 26, 33, 56}) {
      AddBytes(suite, {size, 1, 1, 0}, block, 1, 2, 1);
      AddBytes(suite, {size, 3, 1, 1}, block, 1, 1, 1);
    }
    AddByteGemms(suite, PanelOf(target.host()));
    suite.Run(target.host());
  }
}

TEST(IntegerKernelsTest, CompileWhereTheirInstructionsAre) {
  for (const char* name : {"x86-64-v4-linux-vnni", "x86-64-v4-linux-bf16-vnni",
                           "x86-64-v3-linux-avxvnni", "x86-64-v4-linux-amxint8"}) {
    const DeviceTarget target = ParseTarget(name)->host();
    KernelSuite suite;
    AddAll(suite, BlockOf(target));
    AddAllBytes(suite, BlockOf(target));
    AddShortGemms(suite, PanelOf(target));
    AddByteGemms(suite, PanelOf(target));
    suite.Compile(target);
  }
}

TEST(IntegerKernelsTest, AgreeWithTheReferenceOnEmulatedMachines) {
  for (const DeviceTarget& target : KernelSuite::EmulatedTargets()) {
    KernelSuite suite;
    AddAll(suite, 4);
    AddShortGemms(suite, 8);
    AddLookups(suite, 4);
    suite.RunEmulated(target);
  }
}

// A sum of products as what it stands for, with another tensor of integers added, and quantized again.
ValueId Requantized(GraphBuilder& b, ValueId sums, ValueId residual, ValueId scale, ValueId shift) {
  const auto real = [&b](ValueId integers) {
    return b.Add("Cast", {integers}, {{"to", int64_t{1}}});
  };
  ValueId y = b.Add("Add", {b.Add("Mul", {real(sums), scale}), shift});
  y = b.Add("Add", {y, b.Add("Mul", {real(residual), b.Constant("r", Tensor::Scalar(0.75f))})});
  y = b.Add("QuantizeLinear", {y, b.Constant("s", Tensor::Scalar(1.0f)),
                               b.Constant("z", Tensor::Scalar<int16_t>(0))});
  return b.Add("Clip", {y, b.Constant("low", Tensor::Scalar<int16_t>(-100)),
                        b.Constant("high", Tensor::Scalar<int16_t>(27))});
}

TEST(IntegerKernelsTest, TakeAnElementwiseTail) {
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    const int64_t c = BlockOf(target);
    KernelSuite suite;
    for (const int64_t size : {7, 13}) {
      suite.Add(absl::StrCat("conv", size), [&](GraphBuilder& b) {
        const ValueId x = b.Input("x", kShort, {1, 2, size, size, c});
        const ValueId w = b.Input("w", kShort, {4, 2, 3, 3, c / 2, c, 2});
        const ValueId residual = b.Input("r", kShort, {1, 4, size, size, c});
        const ValueId scale = b.Input("scale", kFloat, {1, 4, 1, 1, c});
        const ValueId shift = b.Input("shift", kFloat, {1, 4, 1, 1, c});
        const ValueId sums = b.Add("slipway.ConvNCHWc", {x, w}, {{"pads", Ints({1, 1, 1, 1})}});
        b.Output(Requantized(b, sums, residual, scale, shift));
      });
      suite.Add(absl::StrCat("depthwise", size), [&](GraphBuilder& b) {
        const ValueId x = b.Input("x", kShort, {1, 4, size, size, c});
        const ValueId w = b.Input("w", kShort, {4, 3, 3, c});
        const ValueId residual = b.Input("r", kShort, {1, 4, size, size, c});
        const ValueId scale = b.Input("scale", kFloat, {1, 4, 1, 1, c});
        const ValueId shift = b.Input("shift", kFloat, {1, 4, 1, 1, c});
        const ValueId sums =
            b.Add("slipway.DepthwiseConvNCHWc", {x, w}, {{"pads", Ints({1, 1, 1, 1})}});
        b.Output(Requantized(b, sums, residual, scale, shift));
      });
    }
    suite.Run(target);
  }
}

}  // namespace
}  // namespace slipway
