// Kernels of open extents: each is compiled once and agrees with the reference at every size, in guarded memory.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"

namespace slipway {
namespace {

using Sizes = std::vector<SymbolValues>;

// One symbol, n, at sizes around those of vectors and tiles.
const Sizes& Few() {
  static const Sizes& sizes =
      *new Sizes{{{"n", 1}}, {{"n", 2}}, {{"n", 7}}, {{"n", 16}}, {{"n", 33}}, {{"n", 100}}};
  return sizes;
}

std::string OneNode(absl::string_view inputs, absl::string_view node) {
  return absl::StrCat("graph \"g\" [n in 1..4096] (", inputs, ") -> (%y) {\n  %y = ", node, "\n}");
}

TEST(OpenKernelsTest, Elementwise) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    suite.AddOpen("inner", OneNode("%x: f32[3, n]", "Sigmoid(%x)"), Few());
    suite.AddOpen("outer", OneNode("%x: f32[n, 5]", "Relu(%x)"), Few());
    suite.AddOpen("both", OneNode("%a: f32[n, n], %b: f32[n, 1]", "Add(%a, %b)"), Few());
    suite.AddOpen("row", OneNode("%a: f32[n, 4, 9], %b: f32[9]", "Mul(%a, %b)"), Few());
    suite.AddOpen("less", OneNode("%a: f32[n, 3], %b: f32[n, 3]", "Less(%a, %b)"), Few());
    suite.AddOpen("where",
                  OneNode("%c: bool[n, 1, n], %a: f32[n, 2, n], %b: f32[]", "Where(%c, %a, %b)"),
                  Few());
    suite.AddOpen("cast", OneNode("%x: i64[n]", "Cast(%x) {to = 1}"), Few());
  });
}

TEST(OpenKernelsTest, NanGoesThrough) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    for (const char* op :
         {"Erf", "Exp", "IsNaN", "Log", "Mish", "Relu", "Sigmoid", "Softplus", "Tanh"}) {
      suite.AddOpenWithNan(op, OneNode("%x: f32[n]", absl::StrCat(op, "(%x)")), Few());
    }
    suite.AddOpenWithNan("Cast", OneNode("%x: f32[n]", "Cast(%x) {to = 6}"), Few());
    for (const char* op : {"Max", "Min", "Pow"}) {
      suite.AddOpenWithNan(op, OneNode("%x: f32[n], %z: f32[n]", absl::StrCat(op, "(%x, %z)")),
                           Few());
      suite.AddOpenWithNan(absl::StrCat(op, " behind"),
                           OneNode("%x: f32[n], %z: f32[n]", absl::StrCat(op, "(%z, %x)")), Few());
    }
  });
}

TEST(OpenKernelsTest, Products) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    const Tolerance tolerance = {1e-4, 1e-4};
    for (const char* columns : {"1", "8", "40", "100"}) {
      suite.AddOpen(
          absl::StrCat("gemm of ", columns),
          OneNode(absl::StrCat("%a: f32[n, 9], %b: f32[9, ", columns, "], %c: f32[", columns, "]"),
                  "Gemm(%a, %b, %c)"),
          Few(), tolerance);
    }
    suite.AddOpen("transposed",
                  OneNode("%a: f32[9, n], %b: f32[24, 9], %c: f32[n, 1]",
                          "Gemm(%a, %b, %c) {transA = 1, transB = 1, alpha = 0.5}"),
                  Few(), tolerance);
    suite.AddOpen("packed",
                  OneNode("%a: f32[n, 9], %b: f32[3, 9, 16], %c: f32[48]",
                          "slipway.GemmPacked(%a, %b, %c) {columns = 48}"),
                  Few(), tolerance);
    suite.AddOpen(
        "packed, cut",
        OneNode("%a: f32[n, 9], %b: f32[3, 9, 16]", "slipway.GemmPacked(%a, %b) {columns = 35}"),
        Few(), tolerance);
    suite.AddOpen("packed, in pairs",
                  OneNode("%a: bf16[n, 10], %b: bf16[3, 5, 16, 2], %c: f32[35]",
                          "slipway.GemmPacked(%a, %b, %c) {columns = 35}"),
                  Few(), tolerance);
    suite.AddOpen("of integers",
                  OneNode("%a: i16[n, 9], %b: i16[9, 35]", "slipway.IntegerGemm(%a, %b)"), Few(),
                  tolerance);
    suite.AddOpen("packed, of bytes",
                  OneNode("%a: u8[n, 12], %b: i8[3, 3, 16, 4], %c: i32[35]",
                          "slipway.GemmPacked(%a, %b, %c) {columns = 35}"),
                  Few(), tolerance);
    suite.AddOpen("rows", OneNode("%a: f32[2, 3, n, 9], %b: f32[2, 3, 9, 20]", "MatMul(%a, %b)"),
                  Few(), tolerance);
    suite.AddOpen("columns", OneNode("%a: f32[2, n, 9], %b: f32[2, 9, n]", "MatMul(%a, %b)"), Few(),
                  tolerance);
    suite.AddOpen("depth", OneNode("%a: f32[2, n, n], %b: f32[2, n, 20]", "MatMul(%a, %b)"), Few(),
                  tolerance);
    suite.AddOpen("batch", OneNode("%a: f32[n, 7, 9], %b: f32[1, 9, 20]", "MatMul(%a, %b)"), Few(),
                  tolerance);
  });
}

TEST(OpenKernelsTest, Rows) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    suite.AddOpen("softmax along", OneNode("%x: f32[3, n]", "Softmax(%x)"), Few());
    suite.AddOpen("softmax across", OneNode("%x: f32[n, 20]", "Softmax(%x)"), Few());
    suite.AddOpen("softmax of columns", OneNode("%x: f32[2, n, 20]", "Softmax(%x) {axis = 1}"),
                  Few());
    suite.AddOpen("softmax of both", OneNode("%x: f32[n, n]", "Softmax(%x)"), Few());
    suite.AddOpen(
        "layers",
        OneNode("%x: f32[2, n, 20], %s: f32[20], %b: f32[20]", "LayerNormalization(%x, %s, %b)"),
        Few());
    const std::string reduce =
        "graph \"g\" [n in 1..4096] (%x: f32[n, 3, 20]) -> (%y) {\n"
        "  const %axes: i64[1] = {AXIS}\n  %y = OP(%x, %axes)\n}";
    for (const char* op : {"ReduceMean", "ReduceMax", "ReduceSum"}) {
      for (const char* axis : {"1", "2"}) {
        suite.AddOpen(absl::StrCat(op, " ", axis),
                      absl::StrReplaceAll(reduce, {{"AXIS", axis}, {"OP", op}}), Few());
      }
    }
  });
}

TEST(OpenKernelsTest, Movement) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    suite.AddOpen("transpose", OneNode("%x: f32[n, 3, 8]", "Transpose(%x) {perm = [1, 0, 2]}"),
                  Few());
    suite.AddOpen("transpose inner", OneNode("%x: f32[2, 3, n]", "Transpose(%x)"), Few());
    suite.AddOpen("concat", OneNode("%a: f32[2, n], %b: f32[2, 3]", "Concat(%a, %b) {axis = 1}"),
                  Few());
    suite.AddOpen(
        "concat outer",
        OneNode("%a: f32[n, 5], %b: f32[2, 5], %c: f32[n, 5]", "Concat(%a, %b, %c) {axis = 0}"),
        Few());
    suite.AddOpen("gather", OneNode("%x: f32[9, 6], %i: i64[n]", "Gather(%x, %i)"), Few());
    suite.AddOpen("gather of open",
                  "graph \"g\" [n in 1..4096] (%x: f32[6, n]) -> (%y) {\n"
                  "  const %i: i64[2] = {0, -1}\n  %y = Gather(%x, %i)\n}",
                  Few());
    suite.AddOpen("slice",
                  "graph \"g\" [n in 1..4096] (%x: f32[n, 8]) -> (%y) {\n"
                  "  const %s: i64[1] = {2}\n  const %e: i64[1] = {7}\n"
                  "  const %a: i64[1] = {1}\n  %y = Slice(%x, %s, %e, %a)\n}",
                  Few());
    suite.AddOpen("slice of open",
                  "graph \"g\" [n in 1..4096] (%x: f32[3, n]) -> (%y) {\n"
                  "  const %s: i64[1] = {0}\n  const %e: i64[1] = {-1}\n"
                  "  const %a: i64[1] = {1}\n  %y = Slice(%x, %s, %e, %a)\n}",
                  {{{"n", 2}}, {{"n", 17}}, {{"n", 100}}});
    suite.AddOpen("pad",
                  "graph \"g\" [n in 1..4096] (%x: f32[n, 3]) -> (%y) {\n"
                  "  const %p: i64[4] = {1, 0, 2, 1}\n  %y = Pad(%x, %p)\n}",
                  Few());
    suite.AddOpen("pack", OneNode("%x: f32[n, 16, 3, 5]", "slipway.Pack(%x) {block = 8}"), Few());
    suite.AddOpen("unpack", OneNode("%x: f32[n, 2, 3, 5, 8]", "slipway.Unpack(%x)"), Few());
  });
}

TEST(OpenKernelsTest, Windows) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    const Sizes sizes = {{{"n", 1}}, {{"n", 3}}, {{"n", 20}}};
    const Tolerance tolerance = {1e-4, 1e-4};
    const std::string attributes =
        " {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], dilations = [1, 1]";
    suite.AddOpen("plain",
                  OneNode("%x: f32[n, 3, 8, 9], %w: f32[4, 3, 3, 3], %b: f32[4]",
                          "Conv(%x, %w, %b)" + attributes + ", group = 1}"),
                  sizes, tolerance);
    suite.AddOpen("blocked",
                  OneNode("%x: f32[n, 2, 8, 9, 8], %w: f32[1, 2, 3, 3, 8, 8], %b: f32[8]",
                          "slipway.ConvNCHWc(%x, %w, %b)" + attributes + ", group = 1}"),
                  sizes, tolerance);
    suite.AddOpen("depthwise",
                  OneNode("%x: f32[n, 2, 8, 9, 8], %w: f32[2, 3, 3, 8]",
                          "slipway.DepthwiseConvNCHWc(%x, %w)" + attributes + "}"),
                  sizes, tolerance);
    suite.AddOpen("pool",
                  OneNode("%x: f32[n, 2, 8, 9, 8]", "slipway.MaxPoolNCHWc(%x)" + attributes + "}"),
                  sizes, tolerance);
    suite.AddOpen("average", OneNode("%x: f32[n, 3, 8, 9]", "AveragePool(%x)" + attributes + "}"),
                  sizes, tolerance);
  });
}

}  // namespace
}  // namespace slipway
