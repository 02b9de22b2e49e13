// Matrix products against the reference.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"

namespace slipway {
namespace {

constexpr DataType kFloat = DataType::kFloat32;

using Build = std::function<void(GraphBuilder&)>;

// One node `op` over inputs of these shapes.
Build OneNode(std::string op, std::vector<Shape> shapes, Attributes attributes = {}) {
  return [=](GraphBuilder& b) {
    std::vector<ValueId> inputs;
    for (const Shape& shape : shapes) {
      inputs.push_back(b.Input(absl::StrCat("x", inputs.size()), kFloat, shape));
    }
    b.Output(b.Add(op, inputs, attributes));
  };
}

TEST(ProductKernelsTest, AgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    const Tolerance tolerance = {1e-4, 1e-4};
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {1, 40}, {2, 7}, {7, 40}, {17, 1}, {17, 40}}) {
      {
        suite.Add(absl::StrCat("gemm", m, "x", n), OneNode("Gemm", {{m, 5}, {5, n}, {n}}), {},
                  tolerance);
        suite.Add(absl::StrCat("matmul", m, "x", n), OneNode("MatMul", {{2, m, 9}, {9, n}}), {},
                  tolerance);
      }
    }
    suite.Add(
        "gemm_transposed",
        OneNode("Gemm", {{5, 9}, {33, 5}, {9, 1}},
                {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}, {"beta", 2.0f}}),
        {}, tolerance);
    suite.Add("large", OneNode("MatMul", {{65, 70}, {70, 130}}), {}, tolerance);
    suite.Add("row_times_matrix", OneNode("MatMul", {{7}, {3, 7, 20}}), {}, tolerance);
    suite.Add("matrix_times_column", OneNode("MatMul", {{3, 20, 7}, {7}}), {}, tolerance);
    suite.Add("dot", OneNode("MatMul", {{7}, {7}}), {}, tolerance);
    suite.Add("batches", OneNode("MatMul", {{2, 1, 4, 5}, {3, 5, 18}}), {}, tolerance);
    for (const int64_t columns : {8, 10, 48, 1000}) {
      for (const int64_t block : {4, 16}) {
        suite.Add(
            absl::StrCat("packed", columns, "b", block),
            [=](GraphBuilder& b) {
              const ValueId x = b.Input("x", kFloat, {3, 33});
              const ValueId w = b.Input("w", kFloat, {(columns + block - 1) / block, 33, block});
              const ValueId bias = b.Input("bias", kFloat, {columns});
              const ValueId y = b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", columns}});
              b.Output(b.Add("Relu", {y}));
            },
            {}, tolerance);
      }
    }
  });
}

// Odd numbers of rows, several bands and chunks, images smaller and larger than a band.
TEST(ProductKernelsTest, ProductsOfHalvesAgreeWithTheReference) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    const Tolerance tolerance = {1e-4, 1e-3};
    for (const auto& [m, k, pairs] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
             {1, 2, 1}, {2, 20, 2}, {33, 34, 3}, {61, 128, 6}, {2100, 128, 5}}) {
      suite.Add(
          absl::StrCat("matrix", m, "x", k, "x", pairs),
          [=, rows = m, depth = k, blocks = pairs](GraphBuilder& b) {
            const ValueId x = b.Input("x", kFloat, {rows, depth});
            const ValueId w = b.Input("w", kFloat, {blocks, 7, depth / 2, 16});
            const ValueId bias = b.Input("bias", kFloat, {blocks * 32});
            const ValueId y = b.Add("slipway.StrassenGemm", {x, w, bias});
            b.Output(b.Add("Tanh", {b.Add("Add", {y, b.Input("z", kFloat, {rows, blocks * 32})})}));
          },
          {}, tolerance);
    }
    struct Images {
      int64_t images, in_blocks, height, width, pairs, block;
    };
    for (const Images& i : {Images{1, 2, 1, 1, 1, 16}, Images{3, 4, 7, 7, 6, 16},
                            Images{2, 2, 5, 9, 2, 4}, Images{2, 8, 57, 28, 3, 8}}) {
      suite.Add(
          absl::StrCat("images", i.images, "x", i.height, "x", i.width),
          [=](GraphBuilder& b) {
            const ValueId x =
                b.Input("x", kFloat, {i.images, i.in_blocks, i.height, i.width, i.block});
            const ValueId w =
                b.Input("w", kFloat, {i.pairs, 7, i.in_blocks / 2 * i.block, i.block});
            const ValueId bias = b.Input("bias", kFloat, {2 * i.pairs * i.block});
            const ValueId y = b.Add("slipway.StrassenConvNCHWc", {x, w, bias});
            const ValueId z =
                b.Input("z", kFloat, {i.images, 2 * i.pairs, i.height, i.width, i.block});
            b.Output(b.Add("Relu", {b.Add("Add", {y, z})}));
          },
          {}, tolerance);
    }
  });
}

// Rows and columns below, at and above those of tiles, right operands that are copied and that are not.
TEST(ProductKernelsTest, TilesMeetAllEdges) {
  KernelSuite::RunEverywhere([](KernelSuite& suite) {
    const Tolerance tolerance = {1e-4, 1e-4};
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 10}, {1, 208}, {2, 40}, {3, 16}, {4, 91}, {13, 10}, {31, 40}, {129, 91}}) {
      const int64_t depth = 11 + m % 5;
      suite.Add(
          absl::StrCat("packed", m, "x", n),
          [=, rows = m, columns = n](GraphBuilder& b) {
            const ValueId x = b.Input("x", kFloat, {rows, depth});
            const ValueId w = b.Input("w", kFloat, {(columns + 15) / 16, depth, 16});
            const ValueId y = b.Add("slipway.GemmPacked", {x, w}, {{"columns", columns}});
            b.Output(b.Add("Tanh", {b.Add("Add", {y, b.Input("z", kFloat, {rows, columns})})}));
          },
          {}, tolerance);
      suite.Add(absl::StrCat("variable", m, "x", n),
                OneNode("MatMul", {{2, m, depth}, {2, depth, n}}), {}, tolerance);
      suite.Add(absl::StrCat("transposed", m, "x", n),
                OneNode("Gemm", {{m, depth}, {n, depth}, {n}}, {{"transB", int64_t{1}}}), {},
                tolerance);
    }
    // One column is summed by vectors along the depth, with and without a rest.
    for (const int64_t depth : {7, 8, 64, 70, 2055}) {
      const Tolerance of_sums = {1e-4, 1e-4 * static_cast<double>(depth)};
      suite.Add(absl::StrCat("column", depth), OneNode("MatMul", {{2, 5, depth}, {2, depth, 1}}),
                {}, of_sums);
      suite.Add(absl::StrCat("column_of_gemm", depth),
                OneNode("Gemm", {{5, depth}, {1, depth}, {1}}, {{"transB", int64_t{1}}}), {},
                of_sums);
      suite.Add(absl::StrCat("columns_dot", depth), OneNode("MatMul", {{depth}, {depth}}), {},
                of_sums);
    }
    suite.Add("deep", OneNode("MatMul", {{5, 3001}, {3001, 24}}), {}, {1e-3, 1e-2});
    // Large enough for tasks: of columns, of batches, of strips of rows.
    suite.Add("wide", OneNode("Gemm", {{35, 130}, {130, 403}}), {}, tolerance);
    suite.Add("tall", OneNode("Gemm", {{1403, 130}, {130, 20}}), {}, tolerance);
    suite.Add("stacked", OneNode("MatMul", {{3, 4, 37, 64}, {3, 4, 64, 37}}), {}, tolerance);
    suite.Add("shared", OneNode("MatMul", {{12, 37, 64}, {1, 64, 37}}), {}, tolerance);
  });
}

}  // namespace
}  // namespace slipway
