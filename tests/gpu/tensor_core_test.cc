// Products on tensor cores, compiled here and run by the libcuda without a GPU in another process, against core/reference: within what a precision may
// cost, and, where the reference is given rounded factors, to the last digits of f32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/artifact/program_steps.h"
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
// Whose warps multiply in fours.
const std::string kHopper = "x86-64-linux,cuda-sm90a";

double Largest(const Tensor& tensor) {
  double largest = 0;
  for (const float value : tensor.values<float>()) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

// What a precision may cost, of the largest element: where products cancel each other out the small ones have no digit left.
Tolerance ErrorOf(Precision type, const Tensor& exact) {
  return {0, Largest(exact) * (type == Precision::kBfloat16 ? 1.0 / 128 : 1.0 / 1024)};
}

// To the nearest of 11 significant bits, of two to the larger.
float RoundedToTf32(float value) {
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(static_cast<double>(value), &exponent), 11);
  const double rounded = std::copysign(std::floor(std::abs(scaled) + 0.5), scaled);
  return static_cast<float>(std::ldexp(rounded, exponent - 11));
}

float Rounded(float value, Precision type) {
  switch (type) {
    case Precision::kBfloat16:
      return Bfloat16ToFloat(FloatToBfloat16(value));
    case Precision::kFloat16:
      return Float16ToFloat(FloatToFloat16(value));
    default:
      return RoundedToTf32(value);
  }
}

Tensor Rounded(const Tensor& tensor, Precision type) {
  std::vector<float> values(tensor.values<float>().begin(), tensor.values<float>().end());
  for (float& value : values) value = Rounded(value, type);
  return Tensor::Of<float>(tensor.shape(), values);
}

constexpr Precision kPrecisions[] = {Precision::kTensorFloat32, Precision::kFloat16,
                                     Precision::kBfloat16};

class TensorCoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create());
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("tensor_cores"));
  }

  // The factors are its first two inputs.
  void CheckRuns(const CompiledGraph& compiled, Precision type) {
    CheckRuns(compiled, compiled.graph, RandomInputs(compiled.graph, 7), kNoWeight, type);
  }

  // The program is that of the graph whose input of that number has become a constant, if it is one.
  void CheckRuns(const CompiledGraph& compiled, const Graph& graph, std::vector<Tensor> inputs,
                 size_t weight, Precision type) {
    std::vector<Tensor> given = inputs;
    if (weight != kNoWeight) given.erase(given.begin() + static_cast<std::ptrdiff_t>(weight));
    ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> outputs,
        RunElsewhere(compiled.artifact, given, graph.outputs.size(), folder_.path()));
    const Reference& reference = compiler_->tester().reference();
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> exact, reference.Evaluate(graph, inputs));
    EXPECT_OK(CheckClose(outputs[0], exact[0], ErrorOf(type, exact[0])));
    for (size_t i = 0; i < 2; ++i) inputs[i] = Rounded(inputs[i], type);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> rounded, reference.Evaluate(graph, inputs));
    EXPECT_OK(CheckClose(outputs[0], rounded[0], {2e-5, 2e-5 + 1e-6 * Largest(rounded[0])}));
  }
  static constexpr size_t kNoWeight = static_cast<size_t>(-1);

  std::unique_ptr<GraphCompiler> compiler_;
  TemporaryFolder folder_;
};

TensorTile WarpGroupTile(int rows, int columns) {
  for (const TensorTile& tile : TensorTiles()) {
    if (tile.is_of_warp_groups && tile.rows == rows && tile.columns == columns) return tile;
  }
  ADD_FAILURE() << "no tile of " << rows << " x " << columns;
  return {};
}

std::string WarpGroupsMultiplyIn(Precision type) {
  return absl::StrCat(".f32.", Name(type), ".", Name(type), " {");
}

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

TEST_P(ProductTest, ComputesWhatTheReferenceDoesByWarpGroups) {
  const auto& [type, product] = GetParam();
  ASSERT_OK_AND_ASSIGN(const Graph graph, compiler_->tester().Parse(product.text));
  for (const auto& [rows, columns] : {std::pair(64, 64), {128, 128}}) {
    SCOPED_TRACE(columns);
    ASSERT_OK_AND_ASSIGN(
        const CompiledGraph compiled,
        compiler_->Compile(graph, kHopper, type, {WarpGroupTile(rows, columns), 1}));
    EXPECT_THAT(DeviceTextOf(compiled.artifact), HasSubstr(WarpGroupsMultiplyIn(type)));
    CheckRuns(compiled, type);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProductTest,
                         ::testing::Combine(::testing::ValuesIn(kPrecisions),
                                            ::testing::ValuesIn(ProductGraphs().begin(),
                                                                ProductGraphs().end())),
                         [](const auto& info) {
                           return absl::StrCat(Name(std::get<0>(info.param)), "_",
                                               std::get<1>(info.param).name);
                         });

size_t WeightOf(const Graph& graph) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.value(graph.inputs[i]).name == "w") return i;
  }
  return graph.inputs.size();
}

Graph WithConstant(Graph graph, size_t input, const Tensor& constant) {
  graph.value(graph.inputs[input]).constant = constant;
  graph.inputs.erase(graph.inputs.begin() + static_cast<std::ptrdiff_t>(input));
  return graph;
}

class WeightTest : public TensorCoreTest,
                   public ::testing::WithParamInterface<std::tuple<Precision, ProductGraph>> {};

TEST_P(WeightTest, ComputesWhatTheReferenceDoes) {
  const auto& [type, product] = GetParam();
  ASSERT_OK_AND_ASSIGN(const Graph graph, compiler_->tester().Parse(product.text));
  const std::vector<Tensor> inputs = RandomInputs(graph, 7);
  const size_t weight = WeightOf(graph);
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler_->Compile(WithConstant(graph, weight, inputs[weight]), kCuda, type));
  const bool is_twice = absl::string_view(product.name) == "twice";
  EXPECT_THAT(compiled.products,
              HasSubstr(is_twice ? "2 of the device's 2" : "1 of the device's 1"));
  // What is rounded already is half the bytes, and copied.
  constexpr absl::string_view kOdd[] = {"odd_depth", "image", "sequence_of_few"};
  const bool is_odd = absl::c_linear_search(kOdd, product.name);
  const bool is_copied = type != Precision::kTensorFloat32 && !is_odd;
  const std::string text = DeviceTextOf(compiled.artifact);
  EXPECT_EQ(text.find("cp.async") != std::string::npos, is_copied) << compiled.weights;
  if (!is_twice) return CheckRuns(compiled, graph, inputs, weight, type);
  EXPECT_THAT(compiled.weights, HasSubstr("2 matrices of constants"));
}

TEST_P(WeightTest, ComputesWhatTheReferenceDoesByWarpGroups) {
  const auto& [type, product] = GetParam();
  ASSERT_OK_AND_ASSIGN(const Graph graph, compiler_->tester().Parse(product.text));
  const std::vector<Tensor> inputs = RandomInputs(graph, 7);
  const size_t weight = WeightOf(graph);
  const Graph constant = WithConstant(graph, weight, inputs[weight]);
  for (const auto& [rows, columns] : {std::pair(64, 32), {128, 256}}) {
    SCOPED_TRACE(columns);
    ASSERT_OK_AND_ASSIGN(
        const CompiledGraph compiled,
        compiler_->Compile(constant, kHopper, type, {WarpGroupTile(rows, columns), 1}));
    EXPECT_THAT(DeviceTextOf(compiled.artifact), HasSubstr(WarpGroupsMultiplyIn(type)));
    if (absl::string_view(product.name) != "twice") {
      CheckRuns(compiled, graph, inputs, weight, type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WeightTest,
                         ::testing::Combine(::testing::ValuesIn(kPrecisions),
                                            ::testing::ValuesIn(WeightGraphs().begin(),
                                                                WeightGraphs().end())),
                         [](const auto& info) {
                           return absl::StrCat(Name(std::get<0>(info.param)), "_",
                                               std::get<1>(info.param).name);
                         });

// What a program has of its weights is half of what it had, and nothing besides.
TEST_F(TensorCoreTest, WeightsAreThereOnce) {
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      compiler_->tester().Parse(R"(graph "g" (%x: f32[8, 64], %w: f32[64, 640]) -> (%y) {
  %y = MatMul(%x, %w)
})"));
  const Graph constant = WithConstant(graph, 1, RandomInputs(graph, 7)[1]);
  const auto bytes_in = [&](Precision precision) -> int64_t {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(constant, kCuda, precision);
    EXPECT_OK(compiled.status());
    int64_t bytes = 0;
    if (!compiled.ok()) return bytes;
    for (const v1::Constant& one : compiled->artifact.manifest().proto().constants()) {
      bytes += one.size_bytes();
    }
    return bytes;
  };
  constexpr int64_t kOthers = 100;  // Names and such.
  for (const Precision precision : {Precision::kFloat32, Precision::kTensorFloat32}) {
    EXPECT_NEAR(bytes_in(precision), 64 * 640 * 4, kOthers);
  }
  for (const Precision precision : {Precision::kFloat16, Precision::kBfloat16}) {
    EXPECT_NEAR(bytes_in(precision), 64 * 640 * 2, kOthers);
  }
}

// How a product is divided is for a record to say, too, and however it is, the product is the same.
TEST_F(TensorCoreTest, EveryDivisionMultiplies) {
  constexpr char kText[] = R"(graph "g" (%a: f32[70, 200], %b: f32[200, 76], %c: f32[76]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Add(%p, %c)
})";
  ASSERT_OK_AND_ASSIGN(const Graph graph, compiler_->tester().Parse(kText));
  for (const Precision precision : {Precision::kBfloat16, Precision::kTensorFloat32}) {
    for (const TensorTile& tile : TensorTiles()) {
      for (const int parts : {1, 2}) {
        const std::string record = absl::StrCat(
            tile.is_of_warp_groups ? " warp-group-product" : " product", " rows=", tile.rows,
            " columns=", tile.columns, " high=", tile.warps_of_rows,
            " wide=", tile.warps_of_columns, " parts=", parts);
        SCOPED_TRACE(record);
        // Devices whose warps multiply in fours also have the other way.
        ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                             compiler_->Compile(graph, kHopper, precision, {tile, parts}));
        ASSERT_EQ(compiled.schedules.size(), 1u);
        EXPECT_THAT(compiled.schedules[0], HasSubstr(record + " "));
        CheckRuns(compiled, precision);
      }
    }
    ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(kText, kCuda, precision));
    const std::vector<std::string> words = absl::StrSplit(chosen.schedules[0], ' ');
    EXPECT_EQ(words[1], "product");
    for (const char* wrong :
         {"product rows=8 columns=8", "product rows=64 columns=64 high=2 wide=2 parts=9",
          "warp-group-product rows=64 columns=64 high=4 wide=1 parts=1"}) {
      EXPECT_THAT(
          compiler_->Compile(kText, kCuda, precision, absl::StrCat(words[0], " ", wrong, "\n")),
          StatusIs(absl::StatusCode::kInvalidArgument,
                   HasSubstr(absl::StrCat("there is no \"", wrong))));
    }
  }
}

// Parts of the depth that begin within a window, and what is behind the product done once.
TEST_F(TensorCoreTest, PartsAreAddedUp) {
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      compiler_->tester().Parse(
          R"(graph "g" (%x: f32[2, 64, 6, 5], %w: f32[18, 64, 3, 3], %b: f32[18], %r: f32[2, 18, 6, 5]) -> (%y) {
  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
  %s = Add(%c, %r)
  %y = Relu(%s)
})"));
  const std::vector<Tensor> inputs = RandomInputs(graph, 7);
  const Graph constant = WithConstant(graph, 1, inputs[1]);
  for (const Precision precision : kPrecisions) {
    ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen,
                         compiler_->Compile(constant, kCuda, precision));
    const std::string name = chosen.schedules[0].substr(0, chosen.schedules[0].find(' '));
    for (const int parts : {2, 5, 9}) {
      ASSERT_OK_AND_ASSIGN(
          const CompiledGraph compiled,
          compiler_->Compile(
              constant, kCuda, precision,
              absl::StrCat(name, " product rows=32 columns=64 high=1 wide=4 parts=", parts, "\n")));
      EXPECT_THAT(DeviceTextOf(compiled.artifact), HasSubstr("_sums("));
      CheckRuns(compiled, graph, inputs, 1, precision);
      ASSERT_OK_AND_ASSIGN(
          const CompiledGraph by_groups,
          compiler_->Compile(constant, kHopper, precision, {WarpGroupTile(64, 64), parts}));
      CheckRuns(by_groups, graph, inputs, 1, precision);
    }
  }
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
// Whoever shows how far a step is from what its device does at most asks in what it multiplies.
TEST_F(TensorCoreTest, AProgramTellsInWhatItMultiplies) {
  constexpr absl::string_view kProduct =
      R"(graph "g" (%x: f32[64, 64], %w: f32[64, 64]) -> (%y) { %y = MatMul(%x, %w) })";
  const std::pair<Precision, v1::Precision> precisions[] = {
      {Precision::kFloat32, v1::PRECISION_UNSPECIFIED},
      {Precision::kTensorFloat32, v1::PRECISION_TF32},
      {Precision::kFloat16, v1::PRECISION_F16},
      {Precision::kBfloat16, v1::PRECISION_BF16}};
  for (const auto& [precision, told] : precisions) {
    ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                         compiler_->Compile(kProduct, kCuda, precision));
    int products = 0;
    int crossing = 0;
    for (const StepInfo& step : StepsOf(compiled.artifact)) {
      ASSERT_TRUE(step.cost.has_value());
      crossing += step.copied != StepInfo::Copied::kWithin ? 1 : 0;
      if (step.cost->flops == 0) continue;
      ++products;
      EXPECT_EQ(step.device, 1u);
      EXPECT_EQ(step.cost->product_type, v1::DATA_TYPE_FLOAT32);
      EXPECT_EQ(step.cost->product_precision, told) << Name(precision);
    }
    EXPECT_EQ(products, 1);
    // Two factors there, a product back.
    EXPECT_EQ(crossing, 3);
  }
}

TEST_F(TensorCoreTest, EveryCapabilityHasOneText) {
  constexpr char kText[] = R"(graph "g" (%a: f32[9, 8], %b: f32[8, 10]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Softmax(%p)
})";
  for (const char* target : {"80", "86", "89", "90", "90a", "120"}) {
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
  EXPECT_THAT(products("%y = Conv(%a, %b) {dilations = [9000, 1], pads = [40000, 0, 0, 0]}", kCuda),
              HasSubstr("larger than 2^14 rows of 2^16 columns"));
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
