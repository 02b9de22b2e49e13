#include "core/passes/expand_ops_pass.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/verifier.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Not;

class ExpandOpsTest : public ::testing::Test {
 protected:
  // The operators afterwards. Results are compared with those before, where symbols are as large as they may be.
  std::vector<std::string> Expand(absl::string_view text, bool lowered = false) {
    std::vector<std::string> operators;
    const absl::StatusOr<Graph> before = tester_.Parse(text);
    EXPECT_OK(before) << text;
    if (!before.ok()) return operators;
    const auto is_lowered = [lowered](const NodeView&, absl::Span<const ValueType>) {
      return lowered;
    };
    const absl::StatusOr<Graph> after = ExpandOps(*before, tester_.context(), is_lowered);
    EXPECT_OK(after) << text;
    if (!after.ok()) return operators;
    EXPECT_OK(Verify(*after, tester_.registry(), {.require_types = true})) << text;
    SymbolValues extents;
    for (const Symbol& symbol : before->symbols) extents[symbol.name] = symbol.max;
    const absl::StatusOr<Graph> bound_before = BindSymbols(*before, extents);
    const absl::StatusOr<Graph> bound_after = BindSymbols(*after, extents);
    EXPECT_OK(bound_before);
    EXPECT_OK(bound_after);
    if (!bound_before.ok() || !bound_after.ok()) return operators;
    EXPECT_OK(tester_.CheckSameResults(*bound_before, *bound_after, 7,
                                       {.relative = 2e-6, .absolute = 2e-6}))
        << text;
    for (const Node& node : after->nodes) operators.push_back(node.op);
    return operators;
  }

  PassTester tester_;
};

std::string Attending(absl::string_view inputs, absl::string_view node) {
  return absl::StrCat("graph \"g\" (", inputs, ") -> (%y) { ", node, " }");
}

TEST_F(ExpandOpsTest, AttentionBecomesProductsAndASoftmax) {
  constexpr char kHeads[] = "%q: f32[2, 3, 4, 8], %k: f32[2, 3, 5, 8], %v: f32[2, 3, 5, 6]";
  constexpr char kPacked[] = "%q: f32[2, 4, 24], %k: f32[2, 5, 24], %v: f32[2, 5, 18]";
  constexpr char kShared[] = "%q: f32[2, 6, 4, 8], %k: f32[2, 3, 5, 8], %v: f32[2, 3, 5, 6]";
  const auto expanded = AllOf(Contains("Softmax"), Not(Contains("Attention")));
  for (const char* inputs : {kHeads, kShared}) {
    EXPECT_THAT(Expand(Attending(inputs, "%y = Attention(%q, %k, %v)")), expanded);
    EXPECT_THAT(Expand(Attending(inputs, "%y = Attention(%q, %k, %v) {is_causal = 1}")), expanded);
    EXPECT_THAT(Expand(Attending(absl::StrCat(inputs, ", %m: f32[4, 5]"),
                                 "%y = Attention(%q, %k, %v, %m) {scale = 0.3}")),
                expanded);
  }
  EXPECT_THAT(
      Expand(Attending(kPacked, "%y = Attention(%q, %k, %v) {q_num_heads = 3, kv_num_heads = 3}")),
      expanded);
}

TEST_F(ExpandOpsTest, QueriesThatSeeNothingMakeZeros) {
  constexpr char kText[] = R"(
    graph "g" (%q: f32[1, 2, 3, 4], %k: f32[1, 2, 3, 4], %v: f32[1, 2, 3, 4]) -> (%y, %z, %u) {
      const %seen: bool[3, 3] = {true, false, true, false, false, false, false, true, true}
      const %bias: f32[1, 1, 3, 3] = {0, -inf, 1, -inf, -inf, -inf, 2, 0, -inf}
      %y = Attention(%q, %k, %v, %seen)
      %z = Attention(%q, %k, %v, %bias)
      %u = Attention(%v, %k, %q, %bias) {is_causal = 1}
    })";
  const std::vector<std::string> operators = Expand(kText);
  EXPECT_THAT(operators, Not(Contains("Attention")));
}

TEST_F(ExpandOpsTest, AttentionsOverOneMaskReckonWithItOnce) {
  const std::vector<std::string> operators = Expand(R"(
    graph "g" (%q: f32[1, 2, 3, 4], %k: f32[1, 2, 3, 4], %m: f32[3, 3]) -> (%z) {
      %y = Attention(%q, %k, %k, %m)
      %z = Attention(%y, %k, %k, %m)
    })");
  EXPECT_EQ(std::count(operators.begin(), operators.end(), "Equal"), 1);
}

TEST_F(ExpandOpsTest, PastKeysComeFirst) {
  const std::vector<std::string> operators = Expand(R"(
    graph "g" (%q: f32[1, 2, 3, 4], %k: f32[1, 2, 3, 4], %m: f32[3, 5],
               %pk: f32[1, 2, 2, 4], %pv: f32[1, 2, 2, 4]) -> (%y, %nk, %nv) {
      %y, %nk, %nv = Attention(%q, %k, %k, %m, %pk, %pv) {is_causal = 1}
    })");
  EXPECT_THAT(operators, AllOf(Contains("Concat"), Not(Contains("Attention"))));
}

TEST_F(ExpandOpsTest, OpenExtentsStayOpen) {
  const std::vector<std::string> operators = Expand(R"(
    graph "g" [b in 1..4, s in 1..6, t in 1..9]
        (%q: f32[b, 4, s, 8], %k: f32[b, 2, t, 8], %m: f32[b, 1, s, t]) -> (%y) {
      %y = Attention(%q, %k, %k, %m)
    })");
  EXPECT_THAT(operators, AllOf(Contains("slipway.View"), Not(Contains("Attention"))));
}

TEST_F(ExpandOpsTest, WhatIsMoreThanProductsStaysAnAttention) {
  constexpr char kInputs[] = "%q: f32[2, 3, 4, 8], %k: f32[2, 3, 4, 8]";
  for (const char* node :
       {"%y = Attention(%q, %k, %k) {softcap = 2.0}",
        "%y = Attention(%q, %k, %k) {left_window_size = 1}", "%z, _, _, %y = Attention(%q, %k, %k)",
        "const %m: f32[4, 2] = splat 0 %y = Attention(%q, %k, %k, %m)"}) {
    EXPECT_THAT(Expand(Attending(kInputs, node)), Contains("Attention")) << node;
  }
  EXPECT_THAT(Expand(Attending(kInputs, "%y = Attention(%q, %k, %k)"), /*lowered=*/true),
              Contains("Attention"));
}

TEST_F(ExpandOpsTest, ConvTransposeBecomesConvolutions) {
  const auto text = [](absl::string_view x, absl::string_view w, absl::string_view attributes) {
    std::string weights;  // All different.
    int64_t count = 1;
    for (const absl::string_view extent : absl::StrSplit(w, ", ")) {
      int64_t number = 0;
      EXPECT_TRUE(absl::SimpleAtoi(extent, &number));
      count *= number;
    }
    for (int64_t i = 0; i < count; ++i) absl::StrAppend(&weights, i == 0 ? "" : ", ", i % 13 - 5);
    return absl::StrCat(
        "graph \"g\" (%x: f32[", x, "]) -> (%y) { const %w: f32[", w, "] = {", weights,
        "} const %b: f32[4] = {1, 2, 3, 4} %y = ConvTranspose(%x, %w, %b) {", attributes, "} }");
  };
  const struct {
    const char* x;
    const char* w;
    const char* attributes;
    int convolutions;
  } rows[] = {
      {"2, 3, 5, 6", "3, 4, 2, 2", "strides = [2, 2]", 1},
      {"1, 3, 5, 6", "3, 4, 3, 3", "", 1},
      {"1, 3, 5, 6", "3, 4, 3, 3", "pads = [1, 2, 1, 0]", 1},
      {"1, 3, 5, 6", "3, 4, 4, 4", "strides = [2, 2], pads = [1, 1, 1, 1]", 1},
      {"1, 3, 5, 6", "3, 4, 3, 3", "strides = [2, 2], pads = [1, 1, 1, 1], output_padding = [1, 1]",
       4},
      {"1, 3, 5, 6", "3, 4, 5, 3", "strides = [3, 2], pads = [4, 0, 2, 1]", 6},
      {"1, 3, 5, 6", "3, 4, 3, 3", "strides = [2, 2], auto_pad = \"SAME_LOWER\"", 4},
      {"1, 3, 5, 6", "3, 4, 3, 3", "strides = [3, 2], output_shape = [17, 16]", 6},
      {"1, 4, 5, 6", "4, 2, 4, 2", "strides = [2, 1], group = 2", 1},
      {"1, 4, 5, 6", "4, 1, 3, 3", "strides = [2, 2], group = 4", 4},
      {"2, 3, 7", "3, 4, 8", "strides = [4], pads = [2, 2]", 1},
  };
  for (const auto& row : rows) {
    const std::vector<std::string> operators = Expand(text(row.x, row.w, row.attributes));
    EXPECT_THAT(operators, Not(Contains("ConvTranspose"))) << row.attributes;
    EXPECT_EQ(std::count(operators.begin(), operators.end(), "Conv"), row.convolutions)
        << row.attributes;
  }
  for (const char* attributes : {"dilations = [2, 2]", "strides = [4, 1]"}) {
    EXPECT_THAT(Expand(text("1, 3, 5, 6", "3, 4, 3, 3", attributes)), Contains("ConvTranspose"));
  }
}

TEST_F(ExpandOpsTest, InfinitiesReachNoMoreOutputsThanTheirTaps) {
  EXPECT_THAT(Expand(R"(
    graph "g" (%z: f32[1, 1, 3, 3]) -> (%y) {
      const %i: f32[1, 1, 3, 3] = {0, 0, 0, 0, inf, 0, 0, 0, 0}
      const %w: f32[1, 1, 3, 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}
      %x = Add(%z, %i)
      %y = ConvTranspose(%x, %w) {strides = [2, 2]}
    })"),
              Contains("Conv"));
}

}  // namespace
}  // namespace slipway
