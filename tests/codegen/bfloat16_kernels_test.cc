// Convolutions and matrix products of bf16 against the reference, which sums convolutions in f64, and what makes and reads bf16 around them.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/target/target.h"
#include "core/tensor/float16.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

constexpr DataType kFloat = DataType::kFloat32;
constexpr DataType kBrain = DataType::kBfloat16;
constexpr int64_t kBrainType = 16;  // As ONNX's attributes number element types.
constexpr int64_t kFloatType = 1;

int64_t BlockOf(const DeviceTarget& target) {
  return target.level == 4 ? 16 : target.level == 3 ? 8 : 4;
}

Tensor BrainsOf(Shape shape, uint32_t seed) {
  Tensor tensor = Tensor::Zeros(kBrain, shape);
  auto* const to = reinterpret_cast<uint16_t*>(tensor.mutable_bytes());
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    to[i] = FloatToBfloat16(static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f);
  }
  return tensor;
}

Tensor FloatsOf(const std::vector<float>& values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

struct ConvCase {
  int64_t size, kernel, stride, pad;
};
constexpr ConvCase kConvCases[] = {{1, 1, 1, 0}, {5, 1, 1, 1},  {7, 1, 2, 0},
                                   {7, 3, 1, 1}, {17, 3, 2, 1}, {29, 3, 1, 1}};

void AddConv(KernelSuite& suite, const ConvCase& c, int64_t block, int64_t in_blocks,
             int64_t out_blocks, int64_t group) {
  const Shape x_shape = {2, in_blocks, c.size, c.size, block};
  const Shape w_shape = {out_blocks, in_blocks / group, c.kernel, c.kernel, block / 2, block, 2};
  suite.Add(absl::StrCat("conv", c.size, "k", c.kernel, "g", group, "n", out_blocks),
            [&](GraphBuilder& b) {
              const ValueId x = b.Input("x", kBrain, x_shape);
              const ValueId w = b.Input("w", kBrain, w_shape);
              const ValueId bias = b.Input("bias", kFloat, {out_blocks * block});
              b.Output(b.Add("slipway.ConvNCHWc", {x, w, bias},
                             {{"strides", Ints({c.stride, c.stride})},
                              {"pads", Ints({c.pad, c.pad, c.pad, c.pad})},
                              {"group", group}}));
            },
            {BrainsOf(x_shape, 1), BrainsOf(w_shape, 2)});
}

// Of weights and sums in f32.
void AddDepthwise(KernelSuite& suite, const ConvCase& c, int64_t block) {
  const Shape x_shape = {2, 3, c.size, c.size, block};
  suite.Add(absl::StrCat("depthwise", c.size, "k", c.kernel, "s", c.stride),
            [&](GraphBuilder& b) {
              const ValueId x = b.Input("x", kBrain, x_shape);
              const ValueId w = b.Input("w", kFloat, {3, c.kernel, c.kernel, block});
              const ValueId bias = b.Input("bias", kFloat, {3 * block});
              b.Output(b.Add("slipway.DepthwiseConvNCHWc", {x, w, bias},
                             {{"strides", Ints({c.stride, c.stride})},
                              {"pads", Ints({c.pad, c.pad, c.pad, c.pad})}}));
            },
            {BrainsOf(x_shape, 8)});
}

// A convolution between layers: the residual is widened, and what comes out is rounded.
void AddLayer(KernelSuite& suite, int64_t size, int64_t block) {
  const Shape x_shape = {1, 2, size, size, block};
  const Shape w_shape = {4, 2, 3, 3, block / 2, block, 2};
  const Shape r_shape = {1, 4, size, size, block};
  suite.Add(
      absl::StrCat("layer", size),
      [&](GraphBuilder& b) {
        const ValueId x = b.Input("x", kBrain, x_shape);
        const ValueId w = b.Input("w", kBrain, w_shape);
        const ValueId r = b.Input("r", kBrain, r_shape);
        const ValueId conv = b.Add("slipway.ConvNCHWc", {x, w}, {{"pads", Ints({1, 1, 1, 1})}});
        const ValueId wide = b.Add("Cast", {r}, {{"to", kFloatType}});
        const ValueId sum = b.Add("Relu", {b.Add("Add", {conv, wide})});
        b.Output(b.Add("slipway.RoundToBfloat16", {sum}));
      },
      {BrainsOf(x_shape, 3), BrainsOf(w_shape, 4), BrainsOf(r_shape, 5)},
      // Sums beside a half may be rounded to the other neighbour.
      {1.0 / 128, 1e-5});
}

// A packed product, and one between layers: an activation, rounded.
void AddProduct(KernelSuite& suite, int64_t rows, int64_t depth, int64_t columns, int64_t block) {
  const Shape x_shape = {rows, depth};
  const Shape w_shape = {(columns + block - 1) / block, depth / 2, block, 2};
  const std::string name = absl::StrCat("gemm", rows, "x", depth, "x", columns, "b", block);
  const std::vector<Tensor> inputs = {BrainsOf(x_shape, 6), BrainsOf(w_shape, 7)};
  const Tolerance tolerance = {1e-4, 1e-5 * static_cast<double>(depth)};
  suite.Add(
      name,
      [&](GraphBuilder& b) {
        const ValueId x = b.Input("x", kBrain, x_shape);
        const ValueId w = b.Input("w", kBrain, w_shape);
        const ValueId bias = b.Input("bias", kFloat, {columns});
        b.Output(b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", columns}}));
      },
      inputs, tolerance);
  suite.Add(absl::StrCat(name, "rounded"),
            [&](GraphBuilder& b) {
              const ValueId x = b.Input("x", kBrain, x_shape);
              const ValueId w = b.Input("w", kBrain, w_shape);
              const ValueId y = b.Add("slipway.GemmPacked", {x, w}, {{"columns", columns}});
              b.Output(b.Add("slipway.RoundToBfloat16", {b.Add("Relu", {y})}));
            },
            inputs, {1.0 / 128, 1e-4});
}

void AddAll(KernelSuite& suite, int64_t block) {
  for (const auto& [rows, depth, columns] : std::vector<std::array<int64_t, 3>>{
           {1, 2, 10}, {1, 64, 208}, {3, 34, 16}, {13, 128, 91}, {129, 30, 40}}) {
    for (const int64_t panel : {8, 16}) AddProduct(suite, rows, depth, columns, panel);
  }
  for (const ConvCase& c : kConvCases) AddConv(suite, c, block, 2, 4, 1);
  AddConv(suite, {9, 3, 1, 1}, block, 1, 1, 1);
  AddConv(suite, {9, 3, 1, 1}, block, 4, 6, 2);
  AddLayer(suite, 7, block);
  AddLayer(suite, 13, block);
  for (const ConvCase& c : kConvCases) AddDepthwise(suite, c, block);
  AddDepthwise(suite, {28, 5, 2, 2}, block);
}

// Those that this machine runs, with the instructions and without.
std::vector<DeviceTarget> Targets() {
  std::vector<DeviceTarget> targets = KernelSuite::RunnableTargets();
  const absl::StatusOr<Target> target = ParseTarget("x86-64-v4-linux-bf16");
  if (target.ok() && CheckRunsOn(*target, HostTarget()).ok()) targets.push_back(target->host());
  return targets;
}

TEST(Bfloat16KernelsTest, AgreeWithTheReference) {
  for (const DeviceTarget& target : Targets()) {
    KernelSuite suite;
    AddAll(suite, BlockOf(target));
    suite.Run(target);
  }
}

TEST(Bfloat16KernelsTest, CompileWhereTheirInstructionsAre) {
  for (const char* name :
       {"x86-64-v4-linux-bf16", "x86-64-v4-linux-bf16-vnni", "x86-64-v4-linux-amxbf16"}) {
    KernelSuite suite;
    AddAll(suite, 16);
    suite.Compile(ParseTarget(name)->host());
  }
}

// Whole registers and parts of them, panels that are not full, rows that are computed twice.
TEST(Bfloat16KernelsTest, AgreeWithTheReferenceInTileRegisters) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("x86-64-v4-linux-amxbf16"));
  if (!CheckRunsOn(target, HostTarget()).ok()) GTEST_SKIP() << "no AMX here";
  KernelSuite suite;
  for (const int64_t rows : {1, 3, 15, 16, 17, 31, 32, 33, 127, 128}) {
    for (const int64_t columns : {5, 16, 40, 91, 208}) AddProduct(suite, rows, 64, columns, 16);
  }
  for (const int64_t depth : {32, 96, 768}) AddProduct(suite, 40, depth, 48, 16);
  // Not of whole registers, and too little of one: products of vectors.
  for (const int64_t depth : {48, 300}) AddProduct(suite, 40, depth, 48, 16);
  AddProduct(suite, 40, 34, 48, 16);
  AddProduct(suite, 40, 64, 48, 8);
  suite.Run(target.host());
}

// Positions that fill registers and don't, short rows below each other, blocks of channels of one register, of two and of half a one.
TEST(Bfloat16KernelsTest, ConvolutionsAgreeWithTheReferenceInTileRegisters) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("x86-64-v4-linux-amxbf16"));
  if (!CheckRunsOn(target, HostTarget()).ok()) GTEST_SKIP() << "no AMX here";
  KernelSuite suite;
  for (const int64_t block : {16, 32, 64}) {
    for (const ConvCase& c : kConvCases) AddConv(suite, c, block, 2, 4, 1);
    for (const int64_t size : {3, 8, 14, 16, 18, 26, 33, 56}) {
      AddConv(suite, {size, 1, 1, 0}, block, 1, 2, 1);
      AddConv(suite, {size, 3, 1, 1}, block, 1, 1, 1);
    }
    AddConv(suite, {9, 3, 1, 1}, block, 4, 6, 2);
    AddConv(suite, {15, 5, 3, 2}, block, 2, 2, 2);
    AddLayer(suite, 7, block);
    AddLayer(suite, 13, block);
  }
  suite.Run(target.host());
}

// Ties, what becomes infinite, subnormal numbers, NaN.
std::vector<float> HardNumbers() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return {0.0f,
          -0.0f,
          1.0f,
          1.00390625f,   // Half of a step above 1: down to even.
          1.01171875f,   // The next half: up to even.
          1.003906369f,  // A little more than half.
          -1.00390625f,
          3.4e38f,
          std::numeric_limits<float>::max(),
          -std::numeric_limits<float>::max(),
          kInfinity,
          -kInfinity,
          std::nanf(""),
          -std::nanf("7"),
          std::numeric_limits<float>::denorm_min(),
          1e-39f,
          -1e-40f,
          std::numeric_limits<float>::min()};
}

// So many of them in another order for each count, exactly as bf16.
std::pair<std::vector<float>, Tensor> Rounded(size_t count) {
  const std::vector<float> hard = HardNumbers();
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) values.push_back(hard[(i * 5 + count) % hard.size()]);
  Tensor rounded = Tensor::Zeros(kBrain, {static_cast<int64_t>(count)});
  for (size_t i = 0; i < count; ++i) {
    reinterpret_cast<uint16_t*>(rounded.mutable_bytes())[i] = FloatToBfloat16(values[i]);
  }
  return {values, rounded};
}

// In vectors and behind the last one.
constexpr size_t kCounts[] = {1, 7, 16, 32, 77};

TEST(Bfloat16KernelsTest, CastsRoundToTheNearestEven) {
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    KernelSuite suite;
    for (const size_t count : kCounts) {
      const auto [values, rounded] = Rounded(count);
      std::vector<float> widened;
      for (const float value : values) widened.push_back(Bfloat16ToFloat(FloatToBfloat16(value)));
      const int64_t extent = static_cast<int64_t>(count);
      suite.AddExpecting(
          absl::StrCat("narrow", count),
          [extent](GraphBuilder& b) {
            b.Output(b.Add("Cast", {b.Input("x", kFloat, {extent})}, {{"to", kBrainType}}));
          },
          {FloatsOf(values)}, {rounded}, {0, 0});
      suite.AddExpecting(
          absl::StrCat("widen", count),
          [extent](GraphBuilder& b) {
            b.Output(b.Add("Cast", {b.Input("x", kBrain, {extent})}, {{"to", kFloatType}}));
          },
          {rounded}, {FloatsOf(widened)}, {0, 0});
    }
    suite.Run(target);
  }
}

// As casts do, but for subnormal numbers, which may be 0.
TEST(Bfloat16KernelsTest, WhatProductsReadIsRoundedToTheNearestEven) {
  for (const DeviceTarget& target : Targets()) {
    KernelSuite suite;
    for (const size_t count : kCounts) {
      const auto [values, rounded] = Rounded(count);
      suite.AddExpecting(
          absl::StrCat("round", count),
          [extent = static_cast<int64_t>(count)](GraphBuilder& b) {
            b.Output(b.Add("slipway.RoundToBfloat16", {b.Input("x", kFloat, {extent})}));
          },
          {FloatsOf(values)}, {rounded}, {0, std::numeric_limits<float>::min()});
    }
    suite.Run(target);
  }
}

}  // namespace
}  // namespace slipway
