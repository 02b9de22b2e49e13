// Attention on tensor cores, compiled here and run by the libcuda without a GPU in another process, against core/reference, within what a precision may cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "core/base/files.h"
#include "core/codegen/tensor_cores/attention_tile.h"
#include "core/tensor/comparison.h"
#include "core/tensor/precision.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/attention_graphs.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/graph_fixture.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kCuda = "x86-64-linux,cuda-sm80";
constexpr Precision kPrecisions[] = {Precision::kTensorFloat32, Precision::kFloat16,
                                     Precision::kBfloat16};

// Queries, keys, probabilities and values are rounded to so many bits each, and what comes out is a mean of values: of the largest one four roundings.
Tolerance ErrorOf(Precision type, const Tensor& exact) {
  double largest = 0;
  for (const float value : exact.values<float>()) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return {0, 4 * largest * (type == Precision::kBfloat16 ? 1.0 / 256 : 1.0 / 2048)};
}

class AttentionTest : public GraphTest {
 protected:
  void CheckRuns(const CompiledGraph& compiled, Precision type) {
    GraphTest::CheckRuns(compiled, AttentionInputs(compiled.graph),
                         [type](const Tensor& exact) { return ErrorOf(type, exact); });
  }
};

class AttentionGraphTest
    : public AttentionTest,
      public ::testing::WithParamInterface<std::tuple<Precision, AttentionGraph>> {};

TEST_P(AttentionGraphTest, ComputesWhatTheReferenceDoes) {
  const auto& [type, graph] = GetParam();
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled, compiler_->Compile(graph.text, kCuda, type));
  EXPECT_EQ(compiled.attention, absl::StrCat("1 attention is one kernel of ", Name(type),
                                             graph.is_causal ? ", 1 causal" : ""));
  EXPECT_EQ(compiled.products, absl::StrCat("1 of the device's 1 products are of ", Name(type)));
  CheckRuns(compiled, type);
}

// What is repeated for heads is copied nowhere.
TEST_F(AttentionTest, KeysThatHeadsShareStayWhereTheyLie) {
  for (const AttentionGraph& graph : AttentionGraphs()) {
    if (std::string(graph.name) != "repeated_heads") continue;
    ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                         compiler_->Compile(graph.text, kCuda, Precision::kFloat16));
    EXPECT_EQ(compiled.schedules.size(), 1u);
    EXPECT_EQ(compiled.notes, "1 of 1 kernels are the device's");
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionGraphTest,
                         ::testing::Combine(::testing::ValuesIn(kPrecisions),
                                            ::testing::ValuesIn(AttentionGraphs().begin(),
                                                                AttentionGraphs().end())),
                         [](const auto& info) {
                           return absl::StrCat(Name(std::get<0>(info.param)), "_",
                                               std::get<1>(info.param).name);
                         });

// How attention is divided is for a record to say, too.
TEST_F(AttentionTest, EveryTileAttends) {
  constexpr char kText[] =
      R"(graph "g" (%q: f32[1, 2, 140, 32], %k: f32[1, 2, 32, 90], %v: f32[1, 2, 90, 32], %m: f32[2, 140, 90]) -> (%y) {
  const %scale: f32[] = {0.177}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %m)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})";
  for (const Precision precision : kPrecisions) {
    ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(kText, kCuda, precision));
    ASSERT_EQ(chosen.schedules.size(), 1u);
    const std::vector<std::string> words = absl::StrSplit(chosen.schedules[0], ' ');
    EXPECT_EQ(words[1], "attention");
    for (const AttentionTile& tile : AttentionTiles()) {
      const std::string record = absl::StrCat(words[0], " attention queries=", tile.queries,
                                              " keys=", tile.keys, " warps=", tile.warps, "\n");
      SCOPED_TRACE(record);
      ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                           compiler_->Compile(kText, kCuda, precision, record));
      EXPECT_THAT(compiled.schedules[0],
                  HasSubstr(absl::StrCat("queries=", tile.queries, " keys=", tile.keys)));
      CheckRuns(compiled, precision);
    }
    EXPECT_THAT(
        compiler_->Compile(kText, kCuda, precision,
                           absl::StrCat(words[0], " attention queries=8 keys=64 warps=1\n")),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("there is no \"attention queries=8")));
  }
}

// Of a graph whose query i sees keys up to i + past, by a constant.
std::string CausalText(int64_t queries, int64_t keys, int64_t past) {
  return absl::Substitute(
      R"(graph "g" (%q: f32[1, 1, $0, 32], %k: f32[1, 1, 32, $1], %v: f32[1, 1, $1, 32]) -> (%y) {
  const %scale: f32[] = {0.177}
  const %low: f32[$0, $1] = splat -inf
  const %behind: i64[] = {$2}
  %causal = Trilu(%low, %behind) {upper = 1}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %causal)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
      queries, keys, past + 1);
}

// A warp multiplies with those tiles of keys of which a query of it sees something, and a group loads what one of its queries does.
TEST_F(AttentionTest, WhatNoQuerySeesIsNeitherLoadedNorMultiplied) {
  constexpr int64_t kQueries = 256, kKeys = 320;
  const auto count = [&](int64_t past, const AttentionTile& tile) {
    const std::string text = CausalText(kQueries, kKeys, past);
    absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(text, kCuda, Precision::kFloat16);
    EXPECT_OK(compiled.status());
    const std::vector<std::string> words = absl::StrSplit(compiled->schedules.at(0), ' ');
    const std::string record = absl::StrCat(words[0], " attention queries=", tile.queries,
                                            " keys=", tile.keys, " warps=", tile.warps, "\n");
    compiled = compiler_->Compile(text, kCuda, Precision::kFloat16, record);
    EXPECT_OK(compiled.status());
    CheckRuns(*compiled, Precision::kFloat16);
    auto counts =
        CountElsewhere(compiled->artifact, AttentionInputs(compiled->graph), folder_.path());
    EXPECT_OK(counts.status());
    return *counts;
  };
  for (const AttentionTile& tile : AttentionTiles()) {
    SCOPED_TRACE(absl::StrCat(tile.queries, " x ", tile.keys));
    std::map<std::string, int64_t> all = count(kKeys, tile);
    const int64_t tiles = kKeys / tile.keys;
    for (const int64_t past : {int64_t{0}, kKeys - kQueries, int64_t{-100}}) {
      SCOPED_TRACE(past);
      std::map<std::string, int64_t> causal = count(past, tile);
      // Up to the last of so many queries from the first one on.
      const auto seen_by = [&](int64_t first, int64_t queries) {
        const int64_t keys = std::clamp<int64_t>(first + queries + past, 0, kKeys);
        return (keys + tile.keys - 1) / tile.keys;
      };
      int64_t multiplied = 0, met = 0;
      for (int64_t first = 0; first < kQueries; first += tile.warp_queries()) {
        multiplied += seen_by(first, tile.warp_queries());
      }
      for (int64_t first = 0; first < kQueries; first += tile.queries) {
        met += 2 * seen_by(first, tile.queries) * tile.instances();
      }
      EXPECT_EQ(causal["mma.sync"] * tiles * (kQueries / tile.warp_queries()),
                all["mma.sync"] * multiplied);
      EXPECT_EQ(causal["bar.sync"], met);
      EXPECT_LT(causal["ld.global"], all["ld.global"]);
    }
  }
}

// A part of what Concat makes begins behind another part, at an address that no vector may have.
TEST_F(AttentionTest, TensorsBeginAnywhere) {
  for (const Precision precision : {Precision::kTensorFloat32, Precision::kFloat16}) {
    ASSERT_OK_AND_ASSIGN(
        const CompiledGraph compiled,
        compiler_->Compile(
            R"(graph "g" (%x: f32[2048], %v: f32[1, 2, 32, 32], %z: f32[3], %u: f32[2048]) -> (%y, %all) {
  const %shape: i64[4] = {1, 2, 32, 32}
  const %scale: f32[] = {0.177}
  %a = Relu(%x)
  %front = Neg(%z)
  %all = Concat(%front, %a) {axis = 0}
  %q = Reshape(%a, %shape)
  %t = Transpose(%q) {perm = [0, 1, 3, 2]}
  %p = MatMul(%q, %t)
  %s = Mul(%p, %scale)
  %w = Softmax(%s) {axis = 3}
  %y = MatMul(%w, %v)
})",
            kCuda, precision));
    EXPECT_THAT(compiled.attention, HasSubstr("1 attention"));
    CheckRuns(compiled, precision);
  }
}

// Where the host makes a part of the same tensor, it makes all of it.
TEST_F(AttentionTest, TheHostAttendsWhereItHasTo) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler_->Compile(
          R"(graph "g" (%q: f32[1, 1, 16, 16], %k: f32[1, 1, 16, 16], %v: f32[1, 1, 16, 16], %x: f32[1, 1, 16, 20]) -> (%y) {
  const %sixteen: i64[1] = {16}
  %p = MatMul(%q, %k)
  %w = Softmax(%p) {axis = 3}
  %m = MatMul(%w, %v)
  %sorted, %places = TopK(%x, %sixteen) {axis = 3}
  %all = Concat(%m, %sorted) {axis = 1}
  %y = Relu(%all)
})",
          kCuda, Precision::kFloat16));
  EXPECT_THAT(compiled.attention, HasSubstr("1 attention"));
  EXPECT_THAT(compiled.notes, HasSubstr("it makes a part of what the host makes"));
  CheckRuns(compiled, Precision::kFloat16);
}

TEST_F(AttentionTest, WhatStaysSeveralKernelsSaysWhy) {
  const auto attention = [&](const char* inputs, const std::string& target, Precision precision) {
    const absl::StatusOr<CompiledGraph> compiled =
        compiler_->Compile(absl::StrCat("graph \"g\" (", inputs, R"() -> (%y) {
  %p = MatMul(%q, %k)
  %w = Softmax(%p) {axis = 3}
  %y = MatMul "y" (%w, %v)
})"),
                           target, precision);
    EXPECT_OK(compiled.status());
    return compiled.ok() ? compiled->attention : "";
  };
  constexpr char kOdd[] = "%q: f32[1, 2, 8, 20], %k: f32[1, 2, 20, 9], %v: f32[1, 2, 9, 16]";
  constexpr char kLarge[] = "%q: f32[1, 2, 8, 16], %k: f32[1, 2, 16, 9], %v: f32[1, 2, 9, 144]";
  constexpr char kServed[] = "%q: f32[1, 2, 8, 16], %k: f32[1, 2, 16, 9], %v: f32[1, 2, 9, 16]";
  EXPECT_EQ(attention(kOdd, kCuda, Precision::kFloat16),
            "\"y\" stays two products and a Softmax: heads of 20 numbers, which are no multiple of "
            "16 up to 128");
  EXPECT_THAT(attention(kLarge, kCuda, Precision::kFloat16), HasSubstr("heads of 144 numbers"));
  EXPECT_THAT(attention(kServed, kCuda, Precision::kFloat16), StartsWith("1 attention is"));
  EXPECT_EQ(attention(kServed, kCuda, Precision::kFloat32), "");
  EXPECT_EQ(attention(kServed, "x86-64-linux,cuda-sm75", Precision::kFloat16), "");
  EXPECT_EQ(attention(kServed, "x86-64-linux,opencl", Precision::kFloat16), "");
}

}  // namespace
}  // namespace slipway::testing
