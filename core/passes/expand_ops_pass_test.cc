#include "core/passes/expand_ops_pass.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  std::vector<std::string> Expand(absl::string_view text, bool lowered = false,
                                  const Tolerance& tolerance = {.relative = 2e-6,
                                                                .absolute = 2e-6}) {
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
    EXPECT_OK(tester_.CheckSameResults(*bound_before, *bound_after, 7, tolerance)) << text;
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

TEST_F(ExpandOpsTest, DynamicQuantizationBecomesReductions) {
  for (const char* x : {"f32[3, 7]", "f32[2, 3, 4]"}) {
    for (const char* made : {"%x", "Neg(%x)", "Abs(%x)", "Sub(%x, %x)"}) {
      const std::vector<std::string> operators = Expand(absl::StrCat(
          "graph \"g\" (%x: ", x, ") -> (%y, %s, %z) {\n",
          made[0] == '%' ? "" : absl::StrCat("%a = ", made, "\n"),
          "%y, %s, %z = DynamicQuantizeLinear(", made[0] == '%' ? "%x" : "%a", ")\n}"));
      EXPECT_THAT(operators, AllOf(Contains("ReduceMax"), Contains("QuantizeLinear"),
                                   Not(Contains("DynamicQuantizeLinear"))));
    }
  }
  EXPECT_THAT(Expand("graph \"g\" [n in 1..9] (%x: f32[n, 7]) -> (%y) {\n"
                     "%y, %s, %z = DynamicQuantizeLinear(%x)\n}"),
              Not(Contains("DynamicQuantizeLinear")));
  EXPECT_THAT(Expand("graph \"g\" (%x: f32[2, 7]) -> (%y) {\n"
                     "%y, %s, %z = DynamicQuantizeLinear(%x)\n}",
                     /*lowered=*/true),
              Contains("DynamicQuantizeLinear"));
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

// A network whose operands are inputs, each present but for those that are left out.
struct NetworkText {
  const char* op;
  int gates;
  int steps, batch, width, hidden;
  std::string attributes = "";
  std::vector<std::string> left_out = {};

  std::string Text() const {
    const bool both = absl::StrContains(attributes, "bidirectional");
    const bool batch_first = absl::StrContains(attributes, "layout = 1");
    const int directions = both ? 2 : 1;
    const auto shaped = [](const char* name, const std::vector<int>& shape) {
      return absl::StrCat("%", name, ": f32[", absl::StrJoin(shape, ", "), "]");
    };
    std::vector<int> state = {directions, batch, hidden};
    if (batch_first) std::swap(state[0], state[1]);
    const std::vector<int> x = {batch_first ? batch : steps, batch_first ? steps : batch, width};
    std::vector<std::string> inputs = {
        shaped("x", x), shaped("w", {directions, gates * hidden, width}),
        shaped("r", {directions, gates * hidden, hidden}),
        shaped("b", {directions, 2 * gates * hidden}), shaped("h", state)};
    std::vector<std::string> names = {"x", "w", "r", "b", "l", "h"};
    if (gates == 4) {
      inputs.push_back(shaped("c", state));
      inputs.push_back(shaped("p", {directions, 3 * hidden}));
      names.insert(names.end(), {"c", "p"});
    }
    std::vector<int> lengths;
    for (int i = 0; i < batch; ++i) lengths.push_back((steps + i) % (steps + 1));
    std::vector<std::string> operands;
    for (const std::string& name : names) {
      const bool has = std::count(left_out.begin(), left_out.end(), name) == 0;
      operands.push_back(has ? "%" + name : "_");
    }
    while (operands.back() == "_") operands.pop_back();
    return absl::StrCat("graph \"g\" (", absl::StrJoin(inputs, ", "), ") -> (%y, %z",
                        gates == 4 ? ", %v" : "", ") { const %l: i32[", batch, "] = {",
                        absl::StrJoin(lengths, ", "), "} %y, %z", gates == 4 ? ", %v" : "", " = ",
                        op, "(", absl::StrJoin(operands, ", "), ") {", attributes, "} }");
  }
};

class ExpandedNetworks : public ExpandOpsTest {
 protected:
  void Check(const NetworkText& network) {
    // Sums are of f32 in another order, and steps hand their errors on.
    EXPECT_THAT(Expand(network.Text(), /*lowered=*/false, {.relative = 2e-5, .absolute = 2e-5}),
                AllOf(Contains(absl::StrCat("slipway.", network.op, "Steps")), Contains("Gemm"),
                      Not(Contains(network.op))));
  }
};

TEST_F(ExpandedNetworks, OfAllSizesAndDirections) {
  for (const int hidden : {1, 7, 13, 16, 33, 48}) {
    for (const int batch : {1, 3, 16}) {
      for (const char* direction : {"forward", "reverse", "bidirectional"}) {
        const std::string attributes = absl::StrCat("direction = \"", direction, "\"");
        Check({"RNN", 1, 4, batch, 5, hidden, attributes});
        Check({"GRU", 3, 4, batch, 5, hidden, attributes});
        Check({"LSTM", 4, 4, batch, 5, hidden, attributes});
      }
    }
  }
}

TEST_F(ExpandedNetworks, OfAllAttributes) {
  for (const char* common :
       {"layout = 1", "clip = 0.5", "layout = 1, direction = \"bidirectional\""}) {
    Check({"RNN", 1, 5, 3, 4, 9, common});
    Check({"GRU", 3, 5, 3, 4, 9, common});
    Check({"GRU", 3, 5, 3, 4, 9, absl::StrCat(common, ", linear_before_reset = 1")});
    Check({"LSTM", 4, 5, 3, 4, 9, common});
    Check({"LSTM", 4, 5, 3, 4, 9, absl::StrCat(common, ", input_forget = 1")});
  }
}

TEST_F(ExpandedNetworks, OfAllActivations) {
  for (const char* name : {"Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh",
                           "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"}) {
    const std::string parameters =
        ", activation_alpha = [0.3, 0.4, 0.5], activation_beta = [0.2, 0.1, 0.3], clip = 2.0";
    const auto named = [&](int count) {
      const std::vector<std::string> names(count, absl::StrCat("\"", name, "\""));
      return absl::StrCat("activations = [", absl::StrJoin(names, ", "), "]", parameters);
    };
    Check({"RNN", 1, 3, 2, 4, 5, named(1)});
    Check({"GRU", 3, 3, 2, 4, 5, named(2)});
    Check({"LSTM", 4, 3, 2, 4, 5, named(3)});
  }
}

TEST_F(ExpandedNetworks, WithoutWhatMayBeLeftOut) {
  for (const std::string& left : {"b", "l", "h", "c", "p"}) {
    Check({"LSTM", 4, 3, 2, 4, 5, "", {left}});
    Check({"GRU", 3, 3, 2, 4, 5, "", {left}});
    Check({"GRU", 3, 3, 2, 4, 5, "linear_before_reset = 1", {left}});
    Check({"RNN", 1, 3, 2, 4, 5, "", {left}});
  }
  Check({"LSTM", 4, 3, 2, 4, 5, "", {"b", "l", "h", "c", "p"}});
  Check({"GRU", 3, 3, 2, 4, 5, "linear_before_reset = 1", {"b", "l", "h"}});
}

TEST_F(ExpandedNetworks, OpenStepsAndBatchesStayOpen) {
  const std::vector<std::string> operators = Expand(R"(
    graph "g" [b in 1..4, s in 1..6]
        (%x: f32[s, b, 3], %w: f32[1, 12, 3], %r: f32[1, 12, 3], %l: i32[b]) -> (%y) {
      %y = LSTM(%x, %w, %r, _, %l)
    })");
  EXPECT_THAT(operators, AllOf(Contains("slipway.View"), Contains("slipway.LSTMSteps")));
}

TEST_F(ExpandedNetworks, OtherTypesStayAsTheyAre) {
  EXPECT_THAT(Expand("graph \"g\" (%x: f64[2, 1, 3], %w: f64[1, 12, 3], %r: f64[1, 12, 3]) -> (%y) "
                     "{ %y = LSTM(%x, %w, %r) }"),
              Contains("LSTM"));
}

}  // namespace
}  // namespace slipway
