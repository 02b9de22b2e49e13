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
#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/codegen/rows/row_division.h"
#include "core/tensor/comparison.h"
#include "proto/slipway/v1/artifact.pb.h"
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

// Of kernels, not of copies.
int LaunchesOf(const Artifact& artifact) {
  int launches = 0;
  for (const v1::Function& function : artifact.manifest().proto().functions()) {
    for (const v1::Step& step : function.steps()) {
      if (step.device() != 0 && step.has_kernel()) ++launches;
    }
  }
  return launches;
}

class RowGraphTest : public RowTest, public ::testing::WithParamInterface<RowGraph> {};

std::string RecordOf(const std::string& kernel, const RowDivision& division) {
  return absl::StrCat(kernel, " warp-rows warps=", division.warps,
                      division.parts > 1 ? absl::StrCat(" parts=", division.parts) : "");
}

// Divided as is chosen, and in all other ways.
TEST_P(RowGraphTest, ComputesWhatTheReferenceDoes) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(GetParam().text, kCuda));
  ASSERT_EQ(chosen.schedules.size(), 1u);
  const std::vector<std::string> words = absl::StrSplit(chosen.schedules[0], ' ');
  EXPECT_EQ(words[1], "warp-rows");
  CheckRuns(chosen);
  for (const RowDivision& division : RowDivisions(GetParam().size, GetParam().layout)) {
    const std::string record = RecordOf(words[0], division);
    SCOPED_TRACE(record);
    ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                         compiler_->Compile(GetParam().text, kCuda, Precision::kFloat32,
                                            absl::StrCat(record, "\n")));
    EXPECT_THAT(compiled.schedules[0], StartsWith(record));
    EXPECT_EQ(LaunchesOf(compiled.artifact), division.parts == 1 ? 1 : 2);
    CheckRuns(compiled);
  }
  EXPECT_THAT(compiler_->Compile(GetParam().text, kCuda, Precision::kFloat32,
                                 RecordOf(words[0], {3, 1}) + "\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("there is no \"warp-rows")));
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

// Parts of a row may have nothing but minus infinities; a row of these is no number, nor is one with such a number in it.
TEST_F(RowTest, PartsOfMinusInfinityHaveNoPart) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph softmax, compiler_->Compile(
                                                        R"(graph "g" (%x: f32[4, 16500]) -> (%y) {
  %y = Softmax(%x) {axis = 1}
})",
                                                        kCuda));
  std::vector<Tensor> inputs = RandomInputs(softmax.graph, 7);
  const absl::Span<float> x = inputs[0].mutable_values<float>();
  constexpr int64_t kSize = 16500;
  for (int64_t i = 0; i < 9000; ++i) x[i] = -std::numeric_limits<float>::infinity();
  for (int64_t i = 1; i < kSize; ++i) x[kSize + i] = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < kSize; ++i) x[2 * kSize + i] = -std::numeric_limits<float>::infinity();
  x[3 * kSize + 9999] = std::numeric_limits<float>::quiet_NaN();
  CheckRuns(softmax, inputs);
}

// What is no number becomes the code of zero, what is beyond the range its nearest end.
TEST_F(RowTest, CodesHaveEnds) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                       compiler_->Compile(R"(graph "g" (%x: f32[6, 64], %s: f32[64]) -> (%y) {
  const %scale: f32[] = {0.02}
  const %zero: u8[] = {128}
  %n = RMSNormalization(%x, %s) {axis = -1}
  %y = QuantizeLinear(%n, %scale, %zero)
})",
                                          kCuda));
  ASSERT_EQ(LaunchesOf(compiled.artifact), 1);
  std::vector<Tensor> inputs = RandomInputs(compiled.graph, 7);
  inputs[0].mutable_values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  inputs[1].mutable_values<float>()[0] = 1000;
  inputs[1].mutable_values<float>()[1] = -1000;
  CheckRuns(compiled, inputs);
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

// What makes a part of a Concat may be the host's: it is grouped with nothing. Nor is what somebody else reads.
TEST_F(RowTest, TransposesStayWhereTheyAreReadElsewhere) {
  const auto schedules = [&](const std::string& rest, const std::string& outputs) {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(
        absl::StrCat("graph \"g\" (%x: f32[1, 8, 4, 4], %s: f32[8], %z: f32[1, 8, 4, 4]) -> (",
                     outputs,
                     R"() {
  %t = Transpose(%x) {perm = [0, 2, 3, 1]}
  %n = RMSNormalization(%t, %s) {axis = -1}
  %b = Transpose(%n) {perm = [0, 3, 1, 2]}
)",
                     rest, "}"),
        kCuda);
    EXPECT_OK(compiled.status());
    CheckRuns(*compiled);
    return compiled->schedules.size();
  };
  EXPECT_EQ(schedules("", "%b"), 1u);
  EXPECT_EQ(schedules("", "%b, %n"), 2u);
  EXPECT_EQ(schedules("", "%b, %t"), 3u);
  // The one behind it makes a part, and is a kernel of its own.
  EXPECT_EQ(schedules("%c = Concat(%z, %b) {axis = 1}\n", "%c"), 3u);
}

TEST_F(RowTest, IsForRowsThatLieTogether) {
  const auto softmax = [&](const std::string& shape, int axis, const std::string& target) {
    return KindOf(absl::StrCat("graph \"g\" (%x: f32[", shape,
                               "]) -> (%y) {\n  %y = Softmax(%x) {axis = ", axis, "}\n}"),
                  target);
  };
  EXPECT_EQ(softmax("3, 40", 1, kCuda), "warp-rows");
  EXPECT_EQ(softmax("3, 40", 1, "x86-64-linux,cuda-sm90a"), "warp-rows");
  EXPECT_EQ(softmax("3, 40", 0, kCuda), "warp-rows");
  EXPECT_EQ(softmax("2049, 4", 0, kCuda), "rows");
  EXPECT_EQ(softmax("3, 40000", 1, kCuda), "warp-rows");
  EXPECT_EQ(softmax("1, 4194305", 1, kCuda), "rows");
  EXPECT_EQ(softmax("3, 40", 1, "x86-64-linux,cuda-sm75"), "rows");
  EXPECT_EQ(softmax("3, 40", 1, "x86-64-linux,opencl"), "rows");
  const auto layer = [&](const std::string& scale) {
    return KindOf(absl::StrCat("graph \"g\" (%x: f32[3, 4, 5], %s: f32[", scale, R"(]) -> (%y) {
  %y = LayerNormalization(%x, %s) {axis = 1}
})"));
  };
  EXPECT_EQ(layer("4, 5"), "warp-rows");
  EXPECT_EQ(layer("4, 1"), "warp-rows");
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

// Of a channel's places neighbours share what there is of the channel; a row that several groups have is read twice.
TEST_F(RowTest, ReadsWhatIsBehindGroupsByVectors) {
  const auto counts_of = [&](const std::string& shape, int groups) {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(
        absl::StrCat("graph \"g\" (%x: f32[", shape, "], %s: f32[8], %b: f32[8], %r: f32[", shape,
                     R"(]) -> (%y) {
  %n = GroupNormalization(%x, %s, %b) {num_groups = )",
                     groups, R"(}
  %a = Relu(%n)
  %y = Add(%a, %r)
})"),
        kCuda);
    EXPECT_OK(compiled.status());
    return *CountElsewhere(compiled->artifact, RandomInputs(compiled->graph, 7), folder_.path());
  };
  auto counts = counts_of("2, 8, 12, 12", 2);
  EXPECT_EQ(counts["ld.global"], 4 * 2 * 8 * 144 / 4);
  EXPECT_EQ(counts["st.global"], 2 * 8 * 144 / 4);
  // 3 parts by 256 instances, of which each warp reads what is told of parts, and one instance tells it.
  counts = counts_of("1, 8, 48, 48", 1);
  EXPECT_EQ(counts["ld.global"], 5 * 8 * 2304 / 4 + 3 * 8 * 3);
  EXPECT_EQ(counts["st.global"], 8 * 2304 / 4 + 3);
}

}  // namespace
}  // namespace slipway::testing
