#include "core/passes/fuse_attention_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/graph/bind_symbols.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::ElementsAre;

absl::StatusOr<Graph> FuseAll(Graph graph, const PassContext& context) {
  return FuseAttention(std::move(graph), context, [](const NodeView&) { return absl::OkStatus(); });
}

// As exporters write what a network of text does: heads turned to the front, the root of the scale on both sides, and zeros for who sees
// nothing.
TEST(FuseAttention, TakesWhatLiesAroundIt) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FuseAll, R"(
    graph "g" (%q: f32[2, 9, 3, 5], %k: f32[2, 11, 3, 5], %v: f32[2, 11, 3, 4],
               %m: f32[2, 1, 9, 11]) -> (%y) {
      const %root: f32[] = {0.5}
      const %zero: f32[] = {0.0}
      %qt = Transpose(%q) {perm = [0, 2, 1, 3]}
      %qs = Mul(%qt, %root)
      %kt = Transpose(%k) {perm = [0, 2, 3, 1]}
      %ks = Mul(%root, %kt)
      %s = MatMul(%qs, %ks)
      %a = Add(%m, %s)
      %p = Softmax(%a) {axis = 3}
      %n = IsNaN(%p)
      %w = Where(%n, %zero, %p)
      %vt = Transpose(%v) {perm = [0, 2, 1, 3]}
      %x = MatMul "a" (%w, %vt)
      %t = Transpose(%x) {perm = [0, 2, 1, 3]}
      %y = Relu "r" (%t)
    })",
                         R"(
    graph "g" (%q: f32[2, 9, 3, 5], %k: f32[2, 11, 3, 5], %v: f32[2, 11, 3, 4],
               %m: f32[2, 1, 9, 11]) -> (%y) {
      %a_2 = slipway.BlockAttention "a" (%q, %k, %v, %m) {first_heads = [0, 0, 0], heads = 3, key_heads = 3, key_order = [0, 2, 1, 3], nan_is_zero = 1, output_order = [0, 2, 1, 3], query_order = [0, 2, 1, 3], scale = 0.25, value_order = [0, 2, 1, 3]}
      %y = Relu "r" (%a_2)
    })"));
}

TEST(FuseAttention, TakesAScaleOfScoresAndMasksThatChoose) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FuseAll, R"(
    graph "g" (%q: f32[1, 2, 8, 5], %k: f32[1, 2, 5, 11], %v: f32[1, 2, 11, 4], %c: bool[8, 11]) -> (%y, %z) {
      const %two: f32[1] = {2.0}
      const %low: f32[] = {-3.0}
      %s = MatMul(%q, %k)
      %d = Div(%s, %two)
      %a = Where(%c, %d, %low)
      %p = Softmax(%a) {axis = 3}
      %y = MatMul "y" (%p, %v)
      %s2 = MatMul(%q, %k)
      %a2 = Where(%c, %low, %s2)
      %p2 = Softmax(%a2) {axis = -1}
      %z = MatMul "z" (%p2, %v)
    })",
                         R"(
    graph "g" (%q: f32[1, 2, 8, 5], %k: f32[1, 2, 5, 11], %v: f32[1, 2, 11, 4], %c: bool[8, 11]) -> (%y, %z) {
      const %y_four_shape: i64[4] = {1, 1, 8, 11}
      const %z_four_shape: i64[4] = {1, 1, 8, 11}
      %y_four = Reshape "y_four" (%c, %y_four_shape)
      %y = slipway.BlockAttention "y" (%q, %k, %v, %y_four) {filling = -3.0, first_heads = [0, 0, 0], heads = 2, key_heads = 2, key_order = [0, 1, 3, 2], output_order = [0, 1, 2, 3], query_order = [0, 1, 2, 3], scale = 0.5, value_order = [0, 1, 2, 3]}
      %z_four = Reshape "z_four" (%c, %z_four_shape)
      %z_seen = Not "z_seen" (%z_four)
      %z = slipway.BlockAttention "z" (%q, %k, %v, %z_seen) {filling = -3.0, first_heads = [0, 0, 0], heads = 2, key_heads = 2, key_order = [0, 1, 3, 2], output_order = [0, 1, 2, 3], query_order = [0, 1, 2, 3], scale = 1.0, value_order = [0, 1, 2, 3]}
    })"));
}

TEST(FuseAttention, TakesOneHeadOfKeysForAllAndHeadsAsABatch) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FuseAll, R"(
    graph "g" (%q: f32[2, 3, 8, 5], %k: f32[2, 1, 5, 9], %v: f32[2, 1, 9, 4]) -> (%y) {
      %s = MatMul(%q, %k)
      %p = Softmax(%s) {axis = 3}
      %y = MatMul "y" (%p, %v)
    })",
                         R"(
    graph "g" (%q: f32[2, 3, 8, 5], %k: f32[2, 1, 5, 9], %v: f32[2, 1, 9, 4]) -> (%y) {
      %y = slipway.BlockAttention "y" (%q, %k, %v) {first_heads = [0, 0, 0], heads = 3, key_heads = 1, key_order = [0, 1, 3, 2], output_order = [0, 1, 2, 3], query_order = [0, 1, 2, 3], scale = 1.0, value_order = [0, 1, 2, 3]}
    })"));
  EXPECT_OK(tester.Check(FuseAll, R"(
    graph "g" (%q: f32[6, 8, 5], %k: f32[6, 9, 5], %v: f32[6, 9, 4], %m: f32[6, 8, 9]) -> (%y) {
      %t = Transpose(%k) {perm = [0, 2, 1]}
      %s = MatMul(%q, %t)
      %a = Add(%s, %m)
      %p = Softmax(%a) {axis = 2}
      %y = MatMul "y" (%p, %v)
    })",
                         R"(
    graph "g" (%q: f32[6, 8, 5], %k: f32[6, 9, 5], %v: f32[6, 9, 4], %m: f32[6, 8, 9]) -> (%y) {
      const %y_four_shape: i64[4] = {6, 1, 8, 5}
      const %y_four_shape_1: i64[4] = {6, 1, 9, 5}
      const %y_four_shape_2: i64[4] = {6, 1, 9, 4}
      const %y_four_shape_3: i64[4] = {6, 1, 8, 9}
      const %y_three_shape: i64[3] = {6, 8, 4}
      %y_four = Reshape "y_four" (%q, %y_four_shape)
      %y_four_1 = Reshape "y_four" (%k, %y_four_shape_1)
      %y_four_2 = Reshape "y_four" (%v, %y_four_shape_2)
      %y_four_3 = Reshape "y_four" (%m, %y_four_shape_3)
      %y_1 = slipway.BlockAttention "y" (%y_four, %y_four_1, %y_four_2, %y_four_3) {first_heads = [0, 0, 0], heads = 1, key_heads = 1, key_order = [0, 1, 2, 3], output_order = [0, 1, 2, 3], query_order = [0, 1, 2, 3], scale = 1.0, value_order = [0, 1, 2, 3]}
      %y = Reshape "y_three" (%y_1, %y_three_shape)
    })"));
}

// Where a constant says that queries see no key behind their own place, or so many further on, attention says so, and reads what other mask there is.
TEST(FuseAttention, SaysThatAConstantMaskIsCausal) {
  const PassTester tester;
  const auto fused = [&tester](const std::string& inputs, const std::string& scores) {
    const absl::StatusOr<Graph> before =
        tester.Parse("graph \"g\" (%q: f32[1, 2, 3, 5], %k: f32[1, 2, 5, 4], %v: f32[1, 2, 4, 6]" +
                     inputs + R"() -> (%y) {
      const %past: f32[3, 4] = {0, 0, -inf, -inf, 0, 0, 0, -inf, 0, 0, 0, 0}
      const %low_past: f32[1, 1, 3, 4] = {0, 0, -1e30, -1e30, 0, 0, 0, -1e30, 0, 0, 0, 0}
      const %seen: bool[3, 4] = {true, true, false, false, true, true, true, false, true, true, true, true}
      const %hidden: bool[3, 4] = {false, false, true, true, false, false, false, true, false, false, false, false}
      const %near: f32[3, 4] = {1, 0, -inf, -inf, 2, 1, 0, -inf, 3, 2, 1, 0}
      const %short: f32[1, 4] = {0, 0, -inf, -inf}
      const %low: f32[] = {-3.4e38}
      const %of_halves: f32[] = {-1e4}
      const %not_so_low: f32[] = {-9e3}
      const %blind_low: f32[3, 4] = {-1e4, -1e4, -1e4, -1e4, 0, 0, 0, -1e4, 0, 0, 0, 0}
      const %low_of_halves: f32[3, 4] = {0, 0, -65504, -65504, 0, 0, 0, -65504, 0, 0, 0, 0}
      const %padding: f32[1, 1, 1, 4] = {-1e4, -1e4, -3, 0}
      const %triangle: f32[3, 4] = {1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}
      const %nothing: f32[] = {-inf}
      const %zero: f32[] = {0}
      %s = MatMul(%q, %k)
)" + scores + R"(
      %p = Softmax(%a) {axis = 3}
      %y = MatMul "y" (%p, %v)
    })");
    EXPECT_OK(before.status());
    const absl::StatusOr<Graph> after = FuseAll(*before, tester.context());
    EXPECT_OK(after.status());
    EXPECT_OK(tester.CheckSameResults(*before, *after, 7));
    const Node& last = after->nodes.back();
    std::string told = last.op == "MatMul" ? "products" : "attention";
    if (const auto* past = last.attributes.FindAs<int64_t>("past_keys")) {
      told += " past " + std::to_string(*past);
    }
    if (last.attributes.Find("behind") != nullptr) told += " filled";
    if (last.inputs.size() == 4) told += " masked";
    return told;
  };
  EXPECT_EQ(fused("", "%a = Add(%s, %past)"), "attention past 1");
  EXPECT_EQ(fused("", "%a = Add(%low_past, %s)"), "attention past 1");
  EXPECT_EQ(fused("", "%a = Where(%seen, %s, %low)"), "attention past 1");
  EXPECT_EQ(fused("", "%a = Where(%hidden, %nothing, %s)"), "attention past 1");
  EXPECT_EQ(fused("", "%a = Where(%seen, %s, %of_halves)"), "attention past 1");
  EXPECT_EQ(fused("", "%a = Add(%s, %low_of_halves)"), "attention past 1");
  EXPECT_EQ(fused("", "%b = Mul(%s, %triangle)\n%a = Add(%b, %low_of_halves)"), "attention past 1");
  EXPECT_EQ(fused("", "%a = Where(%seen, %s, %not_so_low)"), "attention masked");
  EXPECT_EQ(fused("", "%b = Mul(%s, %triangle)\n%a = Where(%seen, %b, %not_so_low)"), "products");
  // Who sees nothing sees all a little.
  EXPECT_EQ(fused("", "%a = Add(%s, %blind_low)"), "attention masked");
  EXPECT_EQ(fused("", "%a = Where(%hidden, %s, %low)"), "attention masked");
  EXPECT_EQ(fused("", "%a = Add(%s, %near)"), "attention past 1 masked");
  EXPECT_EQ(fused("", "%a = Add(%s, %short)"), "attention masked");
  // With another mask, where what is hidden stays so whatever is added.
  EXPECT_EQ(fused(", %m: f32[1, 1, 1, 4]", "%b = Add(%s, %past)\n%a = Add(%b, %m)"),
            "attention past 1 masked");
  EXPECT_EQ(fused(", %m: f32[1, 1, 1, 4]", "%b = Add(%s, %m)\n%a = Add(%past, %b)"),
            "attention past 1 masked");
  EXPECT_EQ(fused(", %m: f32[1, 1, 1, 4]", "%b = Add(%m, %past)\n%a = Add(%s, %b)"),
            "attention past 1 masked");
  EXPECT_EQ(fused(", %m: f32[1, 1, 1, 4]", "%b = Where(%seen, %s, %nothing)\n%a = Add(%b, %m)"),
            "attention past 1 masked");
  EXPECT_EQ(fused(", %c: bool[1, 1, 1, 4]", "%b = And(%c, %seen)\n%a = Where(%b, %s, %nothing)"),
            "attention past 1 masked");
  EXPECT_EQ(fused(", %c: bool[1, 1, 1, 4]",
                  "%b = And(%seen, %c)\n%d = Where(%b, %zero, %nothing)\n%a = Add(%s, %d)"),
            "attention past 1 masked");
  // What two low numbers hide is lower than what one does: they are added as they are.
  EXPECT_EQ(fused(", %m: f32[1, 1, 1, 4]", "%b = Add(%s, %low_of_halves)\n%a = Add(%b, %m)"),
            "attention masked");
  EXPECT_EQ(fused(", %m: f32[1, 1, 1, 4]", "%b = Add(%s, %m)\n%a = Add(%b, %low_past)"),
            "attention masked");
  EXPECT_EQ(
      fused(", %m: f32[1, 1, 1, 4], %n: f32[1, 1, 3, 1]", "%b = Add(%s, %m)\n%a = Add(%b, %n)"),
      "attention masked");
  // Who sees nothing would see something else.
  EXPECT_EQ(fused(", %c: bool[1, 1, 1, 4]", "%b = And(%c, %seen)\n%a = Where(%b, %s, %low)"),
            "attention masked");
  EXPECT_EQ(fused(", %m: f32[1, 1, 1, 4]", "%b = Where(%seen, %s, %low)\n%a = Add(%b, %m)"),
            "attention past 1 filled masked");
  // Of the first query all is padded: what stands in place of scores counts as much.
  EXPECT_EQ(fused("", "%b = Where(%seen, %s, %of_halves)\n%a = Add(%b, %padding)"),
            "attention past 1 filled masked");
  EXPECT_EQ(fused("", "%b = Add(%s, %padding)\n%a = Where(%seen, %b, %of_halves)"), "products");
  EXPECT_EQ(fused("",
                  "%b = Add(%s, %padding)\n%c = Where(%seen, %b, %of_halves)\n"
                  "%a = Add(%c, %padding)"),
            "products");
  EXPECT_EQ(fused(", %m: f32[3, 4]", "%a = Add(%s, %m)"), "attention masked");
}

// Queries, keys and values are columns of one product, or lie one behind the other in it.
TEST(FuseAttention, ReadsPartsOfOneProductWhereTheyLie) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FuseAll, R"(
    graph "g" (%x: f32[2, 9, 18]) -> (%y) {
      const %sizes: i64[3] = {6, 6, 6}
      const %heads: i64[4] = {2, 9, 2, 3}
      %a, %b, %c = Split(%x, %sizes) {axis = 2}
      %q = Reshape(%a, %heads)
      %k = Reshape(%b, %heads)
      %v = Reshape(%c, %heads)
      %qt = Transpose(%q) {perm = [0, 2, 1, 3]}
      %kt = Transpose(%k) {perm = [0, 2, 3, 1]}
      %vt = Transpose(%v) {perm = [0, 2, 1, 3]}
      %s = MatMul(%qt, %kt)
      %p = Softmax(%s) {axis = 3}
      %y = MatMul "y" (%p, %vt)
    })",
                         R"(
    graph "g" (%x: f32[2, 9, 18]) -> (%y) {
      const %y_four_shape: i64[4] = {2, 9, 6, 3}
      const %y_four_shape_1: i64[4] = {2, 9, 6, 3}
      const %y_four_shape_2: i64[4] = {2, 9, 6, 3}
      %y_four = Reshape "y_four" (%x, %y_four_shape)
      %y_four_1 = Reshape "y_four" (%x, %y_four_shape_1)
      %y_four_2 = Reshape "y_four" (%x, %y_four_shape_2)
      %y = slipway.BlockAttention "y" (%y_four, %y_four_1, %y_four_2) {first_heads = [0, 2, 4], heads = 2, key_heads = 2, key_order = [0, 2, 1, 3], output_order = [0, 1, 2, 3], query_order = [0, 2, 1, 3], scale = 1.0, value_order = [0, 2, 1, 3]}
    })"));
  EXPECT_OK(tester.Check(FuseAll, R"(
    graph "g" (%x: f32[2, 9, 3, 2, 5]) -> (%y) {
      const %sizes: i64[3] = {1, 1, 1}
      const %heads: i64[4] = {2, 2, 9, 5}
      %t = Transpose(%x) {perm = [2, 0, 3, 1, 4]}
      %a, %b, %c = Split(%t, %sizes) {axis = 0}
      %q = Reshape(%a, %heads)
      %k = Reshape(%b, %heads)
      %v = Reshape(%c, %heads)
      %kt = Transpose(%k) {perm = [0, 1, 3, 2]}
      %s = MatMul(%q, %kt)
      %p = Softmax(%s) {axis = 3}
      %y = MatMul "y" (%p, %v)
    })",
                         R"(
    graph "g" (%x: f32[2, 9, 3, 2, 5]) -> (%y) {
      const %y_four_shape: i64[4] = {2, 9, 6, 5}
      const %y_four_shape_1: i64[4] = {2, 9, 6, 5}
      const %y_four_shape_2: i64[4] = {2, 9, 6, 5}
      %y_four = Reshape "y_four" (%x, %y_four_shape)
      %y_four_1 = Reshape "y_four" (%x, %y_four_shape_1)
      %y_four_2 = Reshape "y_four" (%x, %y_four_shape_2)
      %y = slipway.BlockAttention "y" (%y_four, %y_four_1, %y_four_2) {first_heads = [0, 2, 4], heads = 2, key_heads = 2, key_order = [0, 2, 1, 3], output_order = [0, 1, 2, 3], query_order = [0, 2, 1, 3], scale = 1.0, value_order = [0, 2, 1, 3]}
    })"));
}

// As exporters write keys that several heads of queries read; `heads` says which heads attention has then.
TEST(FuseAttention, ReadsKeysOnceThatAreRepeatedForHeads) {
  const PassTester tester;
  const auto heads = [&tester](const std::string& keys, const std::string& values,
                               const std::string& scores = "%a = Add(%s, %m)") {
    const absl::StatusOr<Graph> before = tester.Parse(
        R"(graph "g" (%q: f32[2, 6, 7, 5], %k: f32[2, 3, 4, 5], %v: f32[2, 3, 4, 6], %kt: f32[2, 4, 3, 5], %vt: f32[2, 4, 3, 6], %one: f32[2, 1, 4, 5], %m: f32[2, 1, 1, 4]) -> (%y) {
      const %half: f32[] = {0.5}
      const %five_k: i64[5] = {2, 3, 1, 4, 5}
      const %five_v: i64[5] = {2, 3, 1, 4, 6}
      const %more_k: i64[5] = {2, 3, 2, 4, 5}
      const %more_v: i64[5] = {2, 3, 2, 4, 6}
      const %all_k: i64[4] = {2, 6, 4, 5}
      const %all_v: i64[4] = {2, 6, 4, 6}
      const %five_kt: i64[5] = {2, 4, 3, 1, 5}
      const %five_vt: i64[5] = {2, 4, 3, 1, 6}
      const %twice: i64[5] = {1, 1, 1, 2, 1}
      const %all_kt: i64[4] = {2, 4, 6, 5}
      const %all_vt: i64[4] = {2, 4, 6, 6}
      const %each: i64[6] = {0, 0, 1, 1, 2, 2}
      const %in_turns: i64[6] = {0, 1, 2, 0, 1, 2}
      const %many: i64[4] = {2, 1, 7, 4}
)" + keys +
        "\n" + values +
        R"(
      %t = Transpose(%keys) {perm = [0, 1, 3, 2]}
      %s = MatMul(%q, %t)
)" + scores +
        R"(
      %p = Softmax(%a) {axis = 3}
      %y = MatMul "y" (%p, %values)
    })");
    EXPECT_OK(before.status());
    const absl::StatusOr<Graph> after = FuseAll(*before, tester.context());
    EXPECT_OK(after.status());
    EXPECT_OK(tester.CheckSameResults(*before, *after, 7));
    const Node& last = after->nodes.back();
    EXPECT_EQ(last.op, "slipway.BlockAttention");
    // What lies where it is read is seen in other dimensions at most.
    bool has_copies = false;
    for (const Node& node : after->nodes) {
      has_copies = has_copies || (&node != &last && node.op != "Reshape");
    }
    const auto* key_heads = last.attributes.FindAs<int64_t>("key_heads");
    return std::to_string(*key_heads) + (has_copies ? " copied" : "");
  };
  const std::string keys =
      "%k5 = Reshape(%k, %five_k)\n%ke = Expand(%k5, %more_k)\n%keys = Reshape(%ke, %all_k)";
  const std::string values =
      "%v5 = Reshape(%v, %five_v)\n%ve = Expand(%v5, %more_v)\n%values = Reshape(%ve, %all_v)";
  EXPECT_EQ(heads(keys, values), "3");
  EXPECT_EQ(heads(keys, values, "%a = Mul(%s, %half)"), "3");
  EXPECT_EQ(heads(keys, values, "%e = Expand(%m, %many)\n%a = Add(%s, %e)"), "3");
  EXPECT_EQ(heads("%k5 = Reshape(%kt, %five_kt)\n%ke = Tile(%k5, %twice)\n"
                  "%kr = Reshape(%ke, %all_kt)\n%keys = Transpose(%kr) {perm = [0, 2, 1, 3]}",
                  "%v5 = Reshape(%vt, %five_vt)\n%ve = Tile(%v5, %twice)\n"
                  "%vr = Reshape(%ve, %all_vt)\n%values = Transpose(%vr) {perm = [0, 2, 1, 3]}"),
            "3");
  const std::string gathered = "%values = Gather(%v, %each) {axis = 1}";
  EXPECT_EQ(heads("%ks = Mul(%k, %half)\n%keys = Gather(%ks, %each) {axis = 1}", gathered), "3");
  EXPECT_EQ(heads("%keys = Expand(%one, %all_k)", "%values = Expand(%one, %all_k)"), "1");
  // Repeated in another order, or not both as often.
  EXPECT_EQ(heads("%keys = Gather(%k, %in_turns) {axis = 1}", gathered), "6 copied");
  EXPECT_EQ(heads("%keys = Expand(%one, %all_k)", values), "6 copied");
}

// As ExpandOps writes it: queries of one head of keys are rows of one matrix, but for the mask.
TEST(FuseAttention, TakesMasksOfHeadsThatShareKeys) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FuseAll, R"(
    graph "g" (%q: f32[2, 7, 6, 5], %k: f32[2, 3, 5, 4], %v: f32[2, 3, 4, 6], %m: f32[2, 1, 7, 4]) -> (%y) {
      const %half: f32[] = {0.5}
      const %rows: i64[4] = {2, 3, 14, 5}
      const %by_head: i64[4] = {2, 6, 7, 4}
      const %by_key_head: i64[4] = {2, 3, 14, 4}
      const %out: i64[4] = {2, 6, 7, 6}
      %t = Transpose(%q) {perm = [0, 2, 1, 3]}
      %h = Mul(%t, %half)
      %r = Reshape(%h, %rows)
      %s = MatMul(%r, %k)
      %b = Reshape(%s, %by_head)
      %a = Add(%b, %m)
      %p = Softmax(%a) {axis = 3}
      %g = Reshape(%p, %by_key_head)
      %x = MatMul(%g, %v)
      %z = Reshape "y" (%x, %out)
      %y = Transpose "t" (%z) {perm = [0, 2, 1, 3]}
    })",
                         R"(
    graph "g" (%q: f32[2, 7, 6, 5], %k: f32[2, 3, 5, 4], %v: f32[2, 3, 4, 6], %m: f32[2, 1, 7, 4]) -> (%y) {
      %y = slipway.BlockAttention "y" (%q, %k, %v, %m) {first_heads = [0, 0, 0], heads = 6, key_heads = 3, key_order = [0, 1, 3, 2], output_order = [0, 2, 1, 3], query_order = [0, 2, 1, 3], scale = 0.5, value_order = [0, 1, 2, 3]}
    })"));
}

TEST(FuseAttention, LeavesOpenExtentsOpen) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph before, tester.Parse(R"(
    graph "g" [n in 1..3, s in 1..20, t in 1..30]
        (%q: f32[n, 2, s, 5], %k: f32[n, 2, 5, t], %v: f32[n, 2, t, 4], %m: f32[n, 1, 1, t]) -> (%y) {
      %s = MatMul(%q, %k)
      %a = Add(%s, %m)
      %p = Softmax(%a) {axis = 3}
      %y = MatMul "y" (%p, %v)
    })"));
  ASSERT_OK_AND_ASSIGN(const Graph after, FuseAll(before, tester.context()));
  ASSERT_EQ(after.nodes.size(), 1u);
  EXPECT_EQ(after.nodes[0].op, "slipway.BlockAttention");
  const SymbolValues extents = {{"n", 2}, {"s", 9}, {"t", 17}};
  ASSERT_OK_AND_ASSIGN(const Graph expected, BindSymbols(before, extents));
  ASSERT_OK_AND_ASSIGN(const Graph actual, BindSymbols(after, extents));
  EXPECT_OK(tester.CheckSameResults(expected, actual, 7));
}

TEST(FuseAttention, LeavesWhatIsSomethingElse) {
  const PassTester tester;
  const auto stays = [&tester](const char* graph) { return tester.Check(FuseAll, graph, graph); };
  // Scores, and probabilities, that somebody else wants.
  EXPECT_OK(stays(R"(
    graph "g" (%q: f32[1, 2, 8, 5], %k: f32[1, 2, 5, 9], %v: f32[1, 2, 9, 4]) -> (%y, %s) {
      %s = MatMul "s" (%q, %k)
      %p = Softmax "p" (%s) {axis = 3}
      %y = MatMul "y" (%p, %v)
    })"));
  EXPECT_OK(stays(R"(
    graph "g" (%q: f32[1, 2, 8, 5], %k: f32[1, 2, 5, 9], %v: f32[1, 2, 9, 4]) -> (%y, %p) {
      %s = MatMul "s" (%q, %k)
      %p = Softmax "p" (%s) {axis = 3}
      %y = MatMul "y" (%p, %v)
    })"));
  // Softmax over queries; a mask that makes more of the scores than there are.
  EXPECT_OK(stays(R"(
    graph "g" (%q: f32[1, 2, 8, 5], %k: f32[1, 2, 5, 9], %v: f32[1, 2, 9, 4]) -> (%y) {
      %s = MatMul "s" (%q, %k)
      %p = Softmax "p" (%s) {axis = 2}
      %y = MatMul "y" (%p, %v)
    })"));
  EXPECT_OK(stays(R"(
    graph "g" (%q: f32[1, 2, 8, 5], %k: f32[1, 2, 5, 9], %v: f32[1, 2, 9, 4], %m: f32[3, 1, 1, 9]) -> (%y) {
      %s = MatMul "s" (%q, %k)
      %a = Add "a" (%s, %m)
      %p = Softmax "p" (%a) {axis = 3}
      %y = MatMul "y" (%p, %v)
    })"));
}

TEST(FuseAttention, LeavesWhatABackendDoesNotServe) {
  const PassTester tester;
  PassLedger ledger;
  const PassContext context = {tester.registry(), tester.reference(), &ledger};
  const auto serves = [](const NodeView& attention) {
    if (attention.input_shape(0)[2] > 1 && attention.Float("scale") == 0.5f) {
      return absl::OkStatus();
    }
    return absl::UnimplementedError("one query is few");
  };
  ASSERT_OK_AND_ASSIGN(const Graph before, tester.Parse(R"(
    graph "g" (%q: f32[1, 2, 1, 5], %r: f32[1, 2, 4, 5], %k: f32[1, 2, 5, 9], %v: f32[1, 2, 9, 4], %m: f32[9]) -> (%y, %z) {
      const %half: f32[] = {0.5}
      %s = MatMul(%q, %k)
      %p = Softmax(%s) {axis = 3}
      %y = MatMul "y" (%p, %v)
      %t = MatMul(%r, %k)
      %u = Mul(%t, %half)
      %w = Add(%u, %m)
      %x = Softmax(%w) {axis = 3}
      %z = MatMul "z" (%x, %v)
    })"));
  ASSERT_OK_AND_ASSIGN(const Graph after, FuseAttention(before, context, serves));
  std::vector<std::string> operators;
  for (const Node& node : after.nodes) operators.push_back(node.op);
  EXPECT_THAT(operators,
              ElementsAre("MatMul", "Softmax", "MatMul", "Reshape", "slipway.BlockAttention"));
  EXPECT_THAT(ledger.notes,
              ElementsAre("\"y\" stays two products and a Softmax: one query is few"));
  EXPECT_OK(tester.CheckSameResults(before, after, 7));
  EXPECT_THAT(
      FuseAttention(before, context, [](const NodeView&) { return absl::InternalError("broken"); }),
      testing::StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace slipway
