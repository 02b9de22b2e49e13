// Convolutions and pools against the reference, at extents below, at and above the schedules' tiles.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"

namespace slipway {
namespace {

constexpr DataType kFloat = DataType::kFloat32;

struct ConvCase {
  int64_t size, kernel, stride, pad;
};
// One position, fewer than a vector, odd numbers, more than a tile; without padding, with, with more
// than a kernel sees over.
constexpr ConvCase kConvCases[] = {{1, 1, 1, 0}, {2, 1, 1, 0},  {5, 1, 1, 1},  {7, 1, 2, 0},
                                   {7, 3, 1, 1}, {17, 3, 2, 1}, {17, 5, 1, 2}, {29, 3, 1, 1}};

Attributes ConvAttributes(const ConvCase& c, int64_t group = 1, int64_t dilation = 1) {
  return {{"strides", Ints({c.stride, c.stride})},
          {"pads", Ints({c.pad, c.pad, c.pad, c.pad})},
          {"dilations", Ints({dilation, dilation})},
          {"group", group}};
}

void AddBlocked(KernelSuite& suite, const ConvCase& c, int64_t ci, int64_t co, int64_t in_blocks,
                int64_t out_blocks, int64_t group = 1, int64_t dilation = 1) {
  suite.Add(
      absl::StrCat("blocked", c.size, "k", c.kernel, "s", c.stride, "b", ci, ",", co, "g", group,
                   "n", in_blocks, ",", out_blocks),
      [&](GraphBuilder& b) {
        const ValueId x = b.Input("x", kFloat, {2, in_blocks, c.size, c.size, ci});
        const ValueId w =
            b.Input("w", kFloat, {out_blocks, in_blocks / group, c.kernel, c.kernel, ci, co});
        const ValueId bias = b.Input("bias", kFloat, {out_blocks * co});
        b.Output(b.Add("slipway.ConvNCHWc", {x, w, bias}, ConvAttributes(c, group, dilation)));
      },
      {}, {1e-4, 2e-4});
}

void AddAll(KernelSuite& suite, int64_t block) {
  for (const ConvCase& c : kConvCases) AddBlocked(suite, c, block, block, 2, 4);
  AddBlocked(suite, {9, 3, 1, 1}, block, block, 1, 1);
  AddBlocked(suite, {9, 3, 1, 1}, 4, block, 3, 5);
  AddBlocked(suite, {9, 3, 1, 2}, block, 4, 2, 3, 1, 2);
  AddBlocked(suite, {9, 3, 1, 1}, block, block, 4, 6, 2);

  for (const ConvCase& c : kConvCases) {
    suite.Add(absl::StrCat("stem", c.size, "k", c.kernel), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 3, c.size, c.size});
      const ValueId w = b.Input("w", kFloat, {4, 3, c.kernel, c.kernel, block});
      b.Output(b.Add("slipway.ConvNCHWc", {x, w}, ConvAttributes(c)));
    });
    suite.Add(absl::StrCat("plain", c.size, "k", c.kernel), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {2, 3, c.size, c.size});
      const ValueId w = b.Input("w", kFloat, {5, 3, c.kernel, c.kernel});
      const ValueId bias = b.Input("bias", kFloat, {5});
      b.Output(b.Add("Conv", {x, w, bias}, ConvAttributes(c)));
    });
    suite.Add(absl::StrCat("depthwise", c.size, "k", c.kernel), [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 3, c.size, c.size, block});
      const ValueId w = b.Input("w", kFloat, {3, c.kernel, c.kernel, block});
      const ValueId bias = b.Input("bias", kFloat, {3 * block});
      Attributes attributes = ConvAttributes(c);
      attributes.Set("group", 3 * block);
      b.Output(b.Add("slipway.DepthwiseConvNCHWc", {x, w, bias}, attributes));
    });
  }
  suite.Add("plain_groups", [](GraphBuilder& b) {
    const ValueId x = b.Input("x", kFloat, {1, 6, 8, 9});
    const ValueId w = b.Input("w", kFloat, {9, 2, 3, 2});
    b.Output(b.Add("Conv", {x, w}, {{"group", int64_t{3}}, {"auto_pad", "SAME_UPPER"}}));
  });

  // Tiles that fit, that reach beyond the result, several bands of them. Their weights are no transformed kernels, which
  // makes results as large as this, and their errors grow with the channels, of which wide blocks have more.
  const double width = static_cast<double>(std::max<int64_t>(block, 8)) / 8;
  struct TileCase {
    int64_t outputs, height, width, in_blocks, out_blocks;
    double magnitude;
  };
  for (const TileCase& t :
       {TileCase{2, 8, 8, 2, 4, 1e2}, TileCase{4, 1, 1, 1, 1, 1e4}, TileCase{4, 7, 9, 2, 3, 1e4},
        TileCase{4, 30, 61, 8, 2, 1e4}, TileCase{6, 13, 12, 3, 2, 1e6}}) {
    suite.Add(
        absl::StrCat("winograd", t.outputs, "h", t.height, "w", t.width),
        [&](GraphBuilder& b) {
          const ValueId x = b.Input("x", kFloat, {2, t.in_blocks, t.height, t.width, block});
          const ValueId w = b.Input(
              "w", kFloat, {t.outputs + 2, t.outputs + 2, t.out_blocks, t.in_blocks, block, block});
          const ValueId bias = b.Input("bias", kFloat, {t.out_blocks * block});
          const ValueId y =
              b.Add("slipway.WinogradConvNCHWc", {x, w, bias}, {{"pads", Ints({1, 1, 1, 1})}});
          b.Output(b.Add("Relu", {y}));
        },
        {}, {1e-4, 1e-6 * t.magnitude * width});
  }

  for (const int64_t size : {1, 2, 17, 20}) {
    for (const bool ceil : {false, true}) {
      const Attributes max = {{"kernel_shape", Ints({3, 3})},
                              {"strides", Ints({2, 2})},
                              {"pads", Ints({1, 1, 1, 1})},
                              {"ceil_mode", int64_t{ceil}}};
      Attributes average = max;
      average.Set("count_include_pad", int64_t{ceil});
      for (const bool is_max : {false, true}) {
        const char* op = is_max ? "MaxPool" : "AveragePool";
        const Attributes& attributes = is_max ? max : average;
        suite.Add(absl::StrCat(op, size, ceil), [&](GraphBuilder& b) {
          const ValueId x = b.Input("x", kFloat, {2, 3, size, size});
          b.Output(b.Add(op, {x}, attributes));
        });
        suite.Add(absl::StrCat(op, "blocked", size, ceil), [&](GraphBuilder& b) {
          const ValueId x = b.Input("x", kFloat, {1, 2, size, size, block});
          b.Output(b.Add(absl::StrCat("slipway.", op, "NCHWc"), {x}, attributes));
        });
      }
    }
  }
}

TEST(ConvKernelsTest, AgreeWithTheReference) {
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    KernelSuite suite;
    AddAll(suite, target.level == 4 ? 16 : target.level == 3 ? 8 : 4);
    suite.Run(target);
  }
}

TEST(ConvKernelsTest, AgreeWithTheReferenceOnEmulatedMachines) {
  for (const DeviceTarget& target : KernelSuite::EmulatedTargets()) {
    KernelSuite suite;
    AddAll(suite, 4);
    suite.RunEmulated(target);
  }
}

TEST(ConvKernelsTest, TakeAnElementwiseTail) {
  for (const DeviceTarget& target : KernelSuite::RunnableTargets()) {
    const int64_t c = target.level == 4 ? 16 : target.level == 3 ? 8 : 4;
    KernelSuite suite;
    suite.Add("conv_add_relu",
              [&](GraphBuilder& b) {
                const ValueId x = b.Input("x", kFloat, {1, 2, 13, 13, c});
                const ValueId w = b.Input("w", kFloat, {4, 2, 3, 3, c, c});
                const ValueId bias = b.Input("bias", kFloat, {4 * c});
                const ValueId residual = b.Input("residual", kFloat, {1, 4, 13, 13, c});
                const ValueId y =
                    b.Add("slipway.ConvNCHWc", {x, w, bias}, {{"pads", Ints({1, 1, 1, 1})}});
                b.Output(b.Add("Relu", {b.Add("Add", {y, residual})}));
              },
              {}, {1e-4, 2e-4});
    suite.Add("conv_scale_clip", [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 2, 7, 7, c});
      const ValueId w = b.Input("w", kFloat, {4, 2, 1, 1, c, c});
      const ValueId scale = b.Input("scale", kFloat, {1, 4, 1, 1, c});
      const ValueId low = b.Constant("low", Tensor::Scalar<float>(0));
      const ValueId high = b.Constant("high", Tensor::Scalar<float>(6));
      const ValueId y = b.Add("Mul", {b.Add("slipway.ConvNCHWc", {x, w}), scale});
      b.Output(b.Add("Clip", {y, low, high}));
    });
    suite.Add("swish", [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 3, 9, 9});
      const ValueId w = b.Input("w", kFloat, {4, 3, 3, 3});
      const ValueId y = b.Add("Conv", {x, w});
      b.Output(b.Add("Mul", {y, b.Add("Sigmoid", {y})}));
    });
    suite.Add("tail_with_two_outputs", [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 3, 9, 9});
      const ValueId w = b.Input("w", kFloat, {4, 3, 3, 3});
      const ValueId y = b.Add("Conv", {x, w});
      b.Output(b.Add("Relu", {y}));
      b.Output(y);
    });
    suite.Add("two_anchors", [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 3, 9, 9});
      const ValueId w = b.Input("w", kFloat, {4, 3, 3, 3});
      const ValueId v = b.Input("v", kFloat, {4, 4, 3, 3});
      b.Output(b.Add("Relu", {b.Add("Conv", {b.Add("Relu", {b.Add("Conv", {x, w})}), v})}));
    });
    suite.Add("unpacked_tail", [&](GraphBuilder& b) {
      const ValueId x = b.Input("x", kFloat, {1, 2, 7, 7, c});
      const ValueId w = b.Input("w", kFloat, {4, 2, 1, 1, c, c});
      b.Output(b.Add("slipway.Unpack", {b.Add("slipway.ConvNCHWc", {x, w})}));
    });
    suite.Run(target);
  }
}

}  // namespace
}  // namespace slipway
