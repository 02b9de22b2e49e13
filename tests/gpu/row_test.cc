// Rows that are normalized, compiled here and run by the libcuda without a GPU in another process, against core/reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/codegen/rows/normalized_rows.h"
#include "core/tensor/comparison.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/graph_fixture.h"
#include "tests/gpu/row_graphs.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kCuda = "x86-64-linux,cuda-sm80";
constexpr Tolerance kTolerance = {1e-5, 1e-5};

class RowTest : public GraphTest {
 protected:
  void CheckRuns(const CompiledGraph& compiled, const std::vector<Tensor>& inputs) {
    GraphTest::CheckRuns(compiled, inputs, [](const Tensor&) { return kTolerance; });
  }
  void CheckRuns(const CompiledGraph& compiled) { GraphTest::CheckRuns(compiled, kTolerance); }
  // Of the one kernel: "KERNEL KIND ...".
  std::string KindOf(const std::string& text, const std::string& target = kCuda) {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(text, target);
    EXPECT_OK(compiled.status());
    if (!compiled.ok()) return "";
    return std::vector<std::string>(absl::StrSplit(compiled->schedules.at(0), ' '))[1];
  }
};

class RowGraphTest : public RowTest, public ::testing::WithParamInterface<RowGraph> {};

// With as many warps a row as are chosen, and with all other numbers of them.
TEST_P(RowGraphTest, ComputesWhatTheReferenceDoes) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(GetParam().text, kCuda));
  ASSERT_EQ(chosen.schedules.size(), 1u);
  const std::vector<std::string> words = absl::StrSplit(chosen.schedules[0], ' ');
  EXPECT_EQ(words[1], "warp-rows");
  CheckRuns(chosen);
  for (int warps = 1; warps <= kMostRowWarps; ++warps) {
    const std::string record = absl::StrCat(words[0], " warp-rows warps=", warps);
    SCOPED_TRACE(record);
    const absl::StatusOr<CompiledGraph> compiled =
        compiler_->Compile(GetParam().text, kCuda, Precision::kFloat32, absl::StrCat(record, "\n"));
    if (!CanShareRow(warps, GetParam().size)) {
      EXPECT_THAT(compiled, StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("there is no \"warp-rows")));
      continue;
    }
    ASSERT_OK(compiled.status());
    EXPECT_THAT(compiled->schedules[0], StartsWith(record));
    CheckRuns(*compiled);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RowGraphTest,
                         ::testing::ValuesIn(RowGraphs().begin(), RowGraphs().end()),
                         [](const auto& info) { return std::string(info.param.name); });

// Large numbers leave no difference between a square and the square of the mean; what is minus infinity has no part in a softmax.
TEST_F(RowTest, StaysExactWhereNumbersAreLarge) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph layers, compiler_->Compile(RowGraphs()[0].text, kCuda));
  std::vector<Tensor> inputs = RandomInputs(layers.graph, 7);
  for (float& x : inputs[0].mutable_values<float>()) x = x * 4 + 4096;
  // Of the mean of 64 such numbers a last digit is 2^-11.
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> outputs,
                       RunElsewhere(layers.artifact, inputs, 1, folder_.path()));
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> exact,
                       compiler_->tester().reference().Evaluate(layers.graph, inputs));
  EXPECT_OK(CheckClose(outputs[0], exact[0], {1e-3, 1e-3}));

  ASSERT_OK_AND_ASSIGN(const CompiledGraph softmax, compiler_->Compile(
                                                        R"(graph "g" (%x: f32[6, 1000]) -> (%y) {
  %y = Softmax(%x) {axis = 1}
})",
                                                        kCuda));
  inputs = RandomInputs(softmax.graph, 7);
  int64_t i = 0;
  for (float& x : inputs[0].mutable_values<float>()) {
    x = i++ % 3 == 0 ? -std::numeric_limits<float>::infinity() : x * 20 + 1000;
  }
  CheckRuns(softmax, inputs);
}

// A part of what Concat makes begins behind another part, at an address that no vector may have.
TEST_F(RowTest, TensorsBeginAnywhere) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                       compiler_->Compile(
                           R"(graph "g" (%x: f32[512], %s: f32[64], %z: f32[3]) -> (%y, %all) {
  const %shape: i64[2] = {8, 64}
  %a = Neg(%x)
  %front = Neg(%z)
  %all = Concat(%front, %a) {axis = 0}
  %p = Reshape(%a, %shape)
  %y = LayerNormalization(%p, %s) {axis = -1}
})",
                           kCuda));
  CheckRuns(compiled);
}

TEST_F(RowTest, IsForRowsThatLieTogether) {
  const auto softmax = [&](const std::string& shape, int axis, const std::string& target) {
    return KindOf(absl::StrCat("graph \"g\" (%x: f32[", shape,
                               "]) -> (%y) {\n  %y = Softmax(%x) {axis = ", axis, "}\n}"),
                  target);
  };
  EXPECT_EQ(softmax("3, 40", 1, kCuda), "warp-rows");
  EXPECT_EQ(softmax("3, 40", 1, "x86-64-linux,cuda-sm90a"), "warp-rows");
  EXPECT_EQ(softmax("3, 40", 0, kCuda), "rows");
  EXPECT_EQ(softmax("3, 9000", 1, kCuda), "rows");
  EXPECT_EQ(softmax("3, 40", 1, "x86-64-linux,cuda-sm75"), "rows");
  EXPECT_EQ(softmax("3, 40", 1, "x86-64-linux,opencl"), "rows");
  const auto layer = [&](const std::string& scale) {
    return KindOf(absl::StrCat("graph \"g\" (%x: f32[3, 4, 5], %s: f32[", scale, R"(]) -> (%y) {
  %y = LayerNormalization(%x, %s) {axis = 1}
})"));
  };
  EXPECT_EQ(layer("4, 5"), "warp-rows");
  EXPECT_EQ(layer("4, 1"), "rows");
}

TEST_F(RowTest, ReadsEachElementOnceInOneLaunch) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler_->Compile(R"(graph "g" (%x: f32[32, 768], %s: f32[768], %b: f32[768]) -> (%y) {
  %y = LayerNormalization(%x, %s, %b) {axis = -1}
})",
                         kCuda));
  ASSERT_OK_AND_ASSIGN(
      auto counts,
      CountElsewhere(compiled.artifact, RandomInputs(compiled.graph, 7), folder_.path()));
  // Vectors of four: of x, and of both weights.
  EXPECT_EQ(counts["ld.global"], 3 * 32 * 768 / 4);
  EXPECT_EQ(counts["st.global"], 32 * 768 / 4);
}

}  // namespace
}  // namespace slipway::testing
