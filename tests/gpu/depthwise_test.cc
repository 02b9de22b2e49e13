// Convolutions whose channels have a window each, compiled here and run by the libcuda without a GPU in another process, against core/reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/codegen/depthwise/depthwise_tile.h"
#include "core/tensor/comparison.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/depthwise_graphs.h"
#include "tests/gpu/graph_fixture.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kCuda = "x86-64-linux,cuda-sm80";
// Sums of up to 49 products, in another order; activations are approximated.
constexpr Tolerance kTolerance = {1e-5, 1e-5};

class DepthwiseTest : public GraphTest {
 protected:
  void CheckRuns(const CompiledGraph& compiled) { GraphTest::CheckRuns(compiled, kTolerance); }
};

class DepthwiseGraphTest : public DepthwiseTest,
                           public ::testing::WithParamInterface<DepthwiseGraph> {};

// With the tile that is chosen, and with all others.
TEST_P(DepthwiseGraphTest, ComputesWhatTheReferenceDoes) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(GetParam().text, kCuda));
  ASSERT_EQ(chosen.schedules.size(), 1u);
  const std::vector<std::string> words = absl::StrSplit(chosen.schedules[0], ' ');
  EXPECT_EQ(words[1], "depthwise");
  CheckRuns(chosen);
  for (const DepthwiseTile& tile : DepthwiseTiles()) {
    const std::string record =
        absl::StrCat(words[0], " depthwise rows=", tile.rows, " columns=", tile.columns);
    SCOPED_TRACE(record);
    ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                         compiler_->Compile(GetParam().text, kCuda, Precision::kFloat32,
                                            absl::StrCat(record, "\n")));
    EXPECT_THAT(compiled.schedules[0], StartsWith(record));
    CheckRuns(compiled);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DepthwiseGraphTest,
                         ::testing::ValuesIn(DepthwiseGraphs().begin(), DepthwiseGraphs().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(DepthwiseTest, ARecordSaysATileThatThereIs) {
  const char* const text = DepthwiseGraphs()[0].text;
  ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(text, kCuda));
  const std::vector<std::string> words = absl::StrSplit(chosen.schedules[0], ' ');
  EXPECT_THAT(compiler_->Compile(text, kCuda, Precision::kFloat32,
                                 absl::StrCat(words[0], " depthwise rows=3 columns=5\n")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("there is no \"depthwise")));
}

// A part of what Concat makes begins behind another part, at an address that no vector may have.
TEST_F(DepthwiseTest, TensorsBeginAnywhere) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler_->Compile(
          R"(graph "g" (%x: f32[512], %w: f32[4, 1, 3, 3], %z: f32[3]) -> (%y, %all) {
  const %shape: i64[4] = {1, 4, 8, 16}
  %a = Neg(%x)
  %front = Neg(%z)
  %all = Concat(%front, %a) {axis = 0}
  %p = Reshape(%a, %shape)
  %y = Conv(%p, %w) {group = 4, pads = [1, 1, 1, 1]}
})",
          kCuda));
  CheckRuns(compiled);
}

// In f16, too, where products are on tensor cores; but windows of several channels, or of one element, and larger ones are others' work.
TEST_F(DepthwiseTest, IsForWindowsOfOneChannel) {
  const auto schedule = [&](const std::string& inputs, const std::string& attributes,
                            const std::string& target, Precision precision) {
    const absl::StatusOr<CompiledGraph> compiled =
        compiler_->Compile(absl::StrCat("graph \"g\" (", inputs,
                                        ") -> (%y) {\n  %y = Conv(%x, %w) {", attributes, "}\n}"),
                           target, precision);
    EXPECT_OK(compiled.status());
    if (!compiled.ok()) return std::string();
    return std::vector<std::string>(absl::StrSplit(compiled->schedules.at(0), ' '))[1];
  };
  constexpr char kPlanes[] = "%x: f32[1, 4, 20, 20], %w: f32[4, 1, 3, 3]";
  EXPECT_EQ(schedule(kPlanes, "group = 4", kCuda, Precision::kFloat16), "depthwise");
  EXPECT_EQ(schedule(kPlanes, "group = 4", "x86-64-linux,cuda-sm90a", Precision::kFloat32),
            "depthwise");
  EXPECT_EQ(schedule(kPlanes, "group = 4", "x86-64-linux,cuda-sm75", Precision::kFloat32),
            "plain-convolution");
  EXPECT_EQ(schedule(kPlanes, "group = 4", "x86-64-linux,opencl", Precision::kFloat32),
            "plain-convolution");
  EXPECT_EQ(schedule("%x: f32[1, 4, 20, 20], %w: f32[8, 1, 3, 3]", "group = 4", kCuda,
                     Precision::kFloat32),
            "plain-convolution");
  EXPECT_EQ(schedule("%x: f32[1, 4, 20, 20], %w: f32[4, 1, 1, 1]", "group = 4", kCuda,
                     Precision::kFloat32),
            "plain-convolution");
  EXPECT_EQ(schedule("%x: f32[1, 4, 20, 20], %w: f32[4, 1, 9, 9]", "group = 4", kCuda,
                     Precision::kFloat32),
            "plain-convolution");
}

// Instructions that load, and all others, for each element of the result; on earlier devices an instance makes an element.
TEST_F(DepthwiseTest, LoadsLittleForEachElement) {
  const struct {
    const char* name;
    const char* text;
    int64_t elements;
    double most_loads;
  } rows[] = {{"3 x 3",
               R"(graph "g" (%x: f32[1, 8, 56, 56], %w: f32[8, 1, 3, 3], %b: f32[8]) -> (%y) {
  %c = Conv(%x, %w, %b) {group = 8, pads = [1, 1, 1, 1]}
  %y = Relu(%c)
})",
               8 * 56 * 56, 1.7},
              {"5 x 5, every other",
               R"(graph "g" (%x: f32[1, 8, 56, 56], %w: f32[8, 1, 5, 5], %b: f32[8]) -> (%y) {
  %c = Conv(%x, %w, %b) {group = 8, pads = [2, 2, 2, 2], strides = [2, 2]}
  %y = Relu(%c)
})",
               8 * 28 * 28, 4.1},
              {"7 x 7",
               R"(graph "g" (%x: f32[1, 8, 28, 28], %w: f32[8, 1, 7, 7], %b: f32[8]) -> (%y) {
  %y = Conv(%x, %w, %b) {group = 8, pads = [3, 3, 3, 3]}
})",
               8 * 28 * 28, 4.7}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto count = [&](const std::string& target, const std::string& records) {
      const absl::StatusOr<CompiledGraph> compiled =
          compiler_->Compile(row.text, target, Precision::kFloat32, records);
      EXPECT_OK(compiled.status());
      auto counts =
          CountElsewhere(compiled->artifact, RandomInputs(compiled->graph, 7), folder_.path());
      EXPECT_OK(counts.status());
      double all = 0;
      for (const auto& [name, number] : *counts) all += static_cast<double>(number);
      const double loads = static_cast<double>((*counts)["ld.global"]) / row.elements;
      std::cout << row.name << " for " << target << ": " << loads << " loads, "
                << all / row.elements - loads << " other instructions for an element\n";
      return loads;
    };
    ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(row.text, kCuda));
    const std::string name = chosen.schedules[0].substr(0, chosen.schedules[0].find(' '));
    EXPECT_LE(count(kCuda, absl::StrCat(name, " depthwise rows=4 columns=4\n")), row.most_loads);
    EXPECT_GE(count("x86-64-linux,cuda-sm75", ""), 10 * row.most_loads);
  }
}

}  // namespace
}  // namespace slipway::testing
