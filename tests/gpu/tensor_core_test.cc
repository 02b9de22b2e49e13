// Products on tensor cores, compiled here and run by the libcuda without a GPU in another process, against core/reference: within what a precision may
// cost, and, where the reference is given rounded factors, to the last digits of f32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/tensor/comparison.h"
#include "core/tensor/float16.h"
#include "core/tensor/precision.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/product_graphs.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kCuda = "x86-64-linux,cuda-sm80";

// What a precision may cost, of the largest element: where products cancel each other out the small ones have no digit left.
Tolerance ErrorOf(Precision type, const Tensor& exact) {
  double largest = 0;
  for (const float value : exact.values<float>()) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return {0, largest * (type == Precision::kBfloat16 ? 1.0 / 128 : 1.0 / 1024)};
}

Tensor Rounded(const Tensor& tensor, Precision type) {
  std::vector<float> values(tensor.values<float>().begin(), tensor.values<float>().end());
  for (float& value : values) {
    value = type == Precision::kBfloat16 ? Bfloat16ToFloat(FloatToBfloat16(value))
                                         : Float16ToFloat(FloatToFloat16(value));
  }
  return Tensor::Of<float>(tensor.shape(), values);
}

class TensorCoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create());
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("tensor_cores"));
  }

  // The factors are its first two inputs.
  void CheckRuns(const CompiledGraph& compiled, Precision type) {
    std::vector<Tensor> inputs = RandomInputs(compiled.graph, 7);
    ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> outputs,
        RunElsewhere(compiled.artifact, inputs, compiled.graph.outputs.size(), folder_.path()));
    const Reference& reference = compiler_->tester().reference();
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> exact,
                         reference.Evaluate(compiled.graph, inputs));
    EXPECT_OK(CheckClose(outputs[0], exact[0], ErrorOf(type, exact[0])));
    for (size_t i = 0; i < 2; ++i) inputs[i] = Rounded(inputs[i], type);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> rounded,
                         reference.Evaluate(compiled.graph, inputs));
    EXPECT_OK(CheckClose(outputs[0], rounded[0], {2e-5, 2e-5}));
  }

  std::unique_ptr<GraphCompiler> compiler_;
  TemporaryFolder folder_;
};

class ProductTest : public TensorCoreTest,
                    public ::testing::WithParamInterface<std::tuple<Precision, ProductGraph>> {};

TEST_P(ProductTest, ComputesWhatTheReferenceDoes) {
  const auto& [type, graph] = GetParam();
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled, compiler_->Compile(graph.text, kCuda, type));
  EXPECT_EQ(compiled.products, absl::StrCat("1 of the device's 1 products are of ", Name(type)));
  const std::string mma = absl::StrCat(Name(type), ".", Name(type), ".f32");
  EXPECT_THAT(DeviceTextOf(compiled.artifact), HasSubstr(mma));
  CheckRuns(compiled, type);
}

INSTANTIATE_TEST_SUITE_P(
    All, ProductTest,
    ::testing::Combine(::testing::Values(Precision::kFloat16, Precision::kBfloat16),
                       ::testing::ValuesIn(ProductGraphs().begin(), ProductGraphs().end())),
    [](const auto& info) {
      return absl::StrCat(Name(std::get<0>(info.param)), "_", std::get<1>(info.param).name);
    });

// Which tile a product has is for a record to say, too, and whichever it has, the product is the same.
TEST_F(TensorCoreTest, EveryTileMultiplies) {
  constexpr char kText[] = R"(graph "g" (%a: f32[70, 100], %b: f32[100, 76], %c: f32[76]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Add(%p, %c)
})";
  ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen,
                       compiler_->Compile(kText, kCuda, Precision::kBfloat16));
  ASSERT_EQ(chosen.schedules.size(), 1u);
  const std::vector<std::string> words = absl::StrSplit(chosen.schedules[0], ' ');
  EXPECT_EQ(words[1], "product");
  for (const TensorTile& tile : TensorTiles()) {
    const std::string record =
        absl::StrCat(words[0], " product rows=", tile.rows, " columns=", tile.columns,
                     " high=", tile.warps_of_rows, " wide=", tile.warps_of_columns, "\n");
    SCOPED_TRACE(record);
    ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                         compiler_->Compile(kText, kCuda, Precision::kBfloat16, record));
    EXPECT_THAT(compiled.schedules[0],
                HasSubstr(absl::StrCat("rows=", tile.rows, " columns=", tile.columns)));
    CheckRuns(compiled, Precision::kBfloat16);
  }
  EXPECT_THAT(
      compiler_->Compile(kText, kCuda, Precision::kBfloat16,
                         words[0] + " product rows=8 columns=8\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("there is no \"product rows=8")));
}

// A part of what Concat makes begins behind another part, at an address that no vector may have.
TEST_F(TensorCoreTest, FactorsBeginAnywhere) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler_->Compile(R"(graph "g" (%x: f32[64], %b: f32[64, 8], %z: f32[3]) -> (%y, %all) {
  %a = Relu(%x)
  %front = Neg(%z)
  %all = Concat(%front, %a) {axis = 0}
  %y = MatMul(%a, %b)
})",
                         kCuda, Precision::kFloat16));
  EXPECT_THAT(compiled.products, HasSubstr("1 of the device's 1"));
  CheckRuns(compiled, Precision::kFloat16);
}

// With kernels that another generator writes in one text.
TEST_F(TensorCoreTest, EveryCapabilityHasOneText) {
  constexpr char kText[] = R"(graph "g" (%a: f32[9, 8], %b: f32[8, 10]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Softmax(%p)
})";
  for (const char* target : {"80", "86", "89", "90", "120"}) {
    SCOPED_TRACE(target);
    ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                         compiler_->Compile(kText, absl::StrCat("x86-64-linux,cuda-sm", target),
                                            Precision::kBfloat16));
    EXPECT_THAT(compiled.products, HasSubstr("1 of the device's 1"));
    CheckRuns(compiled, Precision::kBfloat16);
  }
}

TEST_F(TensorCoreTest, WhatStaysF32SaysWhy) {
  const auto products = [&](const std::string& nodes, const std::string& target) {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(
        absl::StrCat("graph \"g\" (%a: f32[1, 4, 5, 5], %b: f32[4, 4, 5, 5], %d: f32[4, 1, 3, 3], ",
                     "%r: f32[1, 4, 5, 1]) -> (%y) {\n", nodes, "\n}"),
        target, Precision::kBfloat16);
    EXPECT_OK(compiled.status());
    return compiled.ok() ? compiled->products : "";
  };
  const std::string product = "%y = MatMul(%a, %b)";
  EXPECT_EQ(products("%y = Conv(%a, %d) {group = 4}", kCuda),
            "0 of the device's 1 products are of bf16\n"
            "\"Conv y\" multiplies in f32: its groups have few channels");
  EXPECT_THAT(products("%p = Conv(%a, %b) {pads = [2, 2, 2, 2]}\n%y = Add(%p, %r)", kCuda),
              HasSubstr("a tensor behind it repeats within its planes"));
  EXPECT_THAT(products("%p = MatMul(%a, %b)\n%y = Sin(%p)", kCuda), HasSubstr("Sin behind it"));
  EXPECT_THAT(products(product, "x86-64-linux,cuda-sm75"),
              HasSubstr("cuda-sm75 has no tensor cores for bf16"));
  EXPECT_THAT(products(product, "x86-64-linux,opencl"),
              HasSubstr("opencl has no tensor cores for bf16"));
  ASSERT_OK_AND_ASSIGN(const CompiledGraph plain,
                       compiler_->Compile(ProductGraphs()[0].text, kCuda));
  EXPECT_EQ(plain.products, "");
  EXPECT_THAT(DeviceTextOf(plain.artifact), ::testing::Not(HasSubstr("mma")));
}

}  // namespace
}  // namespace slipway::testing
