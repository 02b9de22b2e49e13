// Attention against values worked out by hand. ONNX's own cases cover its forms.
#include <string>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// One query that sees two keys as much: the mean of their values.
constexpr char kTwoKeys[] =
    "const %q: f32[1, 1, 1, 1] = {0}\nconst %k: f32[1, 1, 2, 1] = {1, 2}\n"
    "const %v: f32[1, 1, 2, 1] = {10, 30}\n";

TEST(AttentionTest, EqualScoresGiveTheMean) {
  EXPECT_EQ(ValuesOf(kTwoKeys, "%y = Attention(%q, %k, %v)"), "f32[1, 1, 1, 1] = {20}");
  EXPECT_EQ(ValuesOf(kTwoKeys, "%y = Attention(%q, %k, %v) {is_causal = 1}"),
            "f32[1, 1, 1, 1] = {10}");
}

TEST(AttentionTest, WhatSeesNoKeyIsZero) {
  EXPECT_EQ(ValuesOf(std::string(kTwoKeys) + "const %m: bool[1, 2] = {false, false}",
                     "%y = Attention(%q, %k, %v, %m)"),
            "f32[1, 1, 1, 1] = {0}");
  EXPECT_EQ(ValuesOf(std::string(kTwoKeys) + "const %n: i64[1] = {0}",
                     "%y = Attention(%q, %k, %v, _, _, _, %n)"),
            "f32[1, 1, 1, 1] = {0}");
}

TEST(AttentionTest, AShortMaskHidesTheRest) {
  EXPECT_EQ(ValuesOf(std::string(kTwoKeys) + "const %m: f32[1, 1] = {5}",
                     "%y = Attention(%q, %k, %v, %m)"),
            "f32[1, 1, 1, 1] = {10}");
}

TEST(AttentionTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ValuesOf(std::string(kTwoKeys) + "const %n: i64[1] = {3}",
                       "%y = Attention(%q, %k, %v, _, _, _, %n)"),
              HasSubstr("a number of keys (input 6) is outside"));
  EXPECT_THAT(ValuesOf(kTwoKeys, "%y = Attention(%q, %v, %k, _, %k)"), HasSubstr("go together"));
  EXPECT_THAT(ValuesOf(kTwoKeys, "%y = Attention(%q, %k, %q)"),
              HasSubstr("input 2 of shape [1, 1, 1, 1] does not fit input 1"));
  EXPECT_THAT(ValuesOf("const %q: f32[1, 2, 6] = splat 1", "%y = Attention(%q, %q, %q)"),
              HasSubstr("cannot be divided into 0 heads"));
}

// Two heads of one query, of which the second takes part, and two keys; orders as a product makes them.
constexpr char kBlock[] =
    "const %q: f32[1, 1, 2, 1] = {9, 0}\nconst %k: f32[1, 2, 1, 1] = {1, 2}\n"
    "const %v: f32[1, 2, 1, 1] = {10, 30}\n";
std::string Block(const std::string& mask, const std::string& attributes) {
  return ValuesOf(
      kBlock + mask,
      "%y = slipway.BlockAttention(%q, %k, %v" + std::string(mask.empty() ? "" : ", %m") +
          ") {heads = 1, key_heads = 1, query_order = [0, 2, 1, 3], key_order = [0, 2, 1, "
          "3], value_order = [0, 2, 1, 3], output_order = [0, 2, 1, 3]" +
          attributes + "}");
}

TEST(BlockAttentionTest, IsWhatItsProductsWouldMake) {
  const std::string second = ", first_heads = [1, 0, 0]";
  EXPECT_EQ(Block("", second), "f32[1, 1, 1, 1] = {20}");
  EXPECT_EQ(Block("", ", first_heads = [0, 0, 0], scale = 100.0"), "f32[1, 1, 1, 1] = {30}");
  const std::string first_only = "const %m: bool[1, 1, 1, 2] = {true, false}\n";
  EXPECT_EQ(Block(first_only, second + ", filling = -1e30"), "f32[1, 1, 1, 1] = {10}");
  EXPECT_EQ(Block(first_only, second), "f32[1, 1, 1, 1] = {20}");
  EXPECT_EQ(Block("const %m: f32[1, 1, 1, 2] = {-inf, 0}\n", second), "f32[1, 1, 1, 1] = {30}");
  const std::string blind = "const %m: f32[1, 1, 1, 1] = {-inf}\n";
  EXPECT_THAT(Block(blind, second), HasSubstr("nan"));
  EXPECT_EQ(Block(blind, second + ", nan_is_zero = 1"), "f32[1, 1, 1, 1] = {0}");
}

TEST(BlockAttentionTest, SeesNoKeyBehindItsPlace) {
  // Of five queries, whose scores are the same for all four keys.
  const auto see = [](const std::string& attributes) {
    return ValuesOf(
        "const %q: f32[1, 1, 5, 1] = splat 0\nconst %k: f32[1, 1, 4, 1] = {1, 2, 3, 4}\n"
        "const %v: f32[1, 1, 4, 1] = {2, 4, 12, 30}\nconst %m: f32[1, 1, 1, 4] = {-inf, 0, 0, 0}\n",
        "%y = slipway.BlockAttention(%q, %k, %v" + attributes +
            ", heads = 1, key_heads = 1, first_heads = [0, 0, 0], query_order = [0, 1, 2, 3], "
            "key_order = [0, 1, 2, 3], value_order = [0, 1, 2, 3], output_order = [0, 1, 2, 3]}");
  };
  EXPECT_EQ(see(") {is_causal = 1"), "f32[1, 1, 5, 1] = {2, 3, 6, 12, 12}");
  EXPECT_EQ(see(") {is_causal = 1, past_keys = 2"), "f32[1, 1, 5, 1] = {6, 12, 12, 12, 12}");
  EXPECT_EQ(see(") {is_causal = 1, past_keys = -2, nan_is_zero = 1"),
            "f32[1, 1, 5, 1] = {0, 0, 2, 3, 6}");
  EXPECT_THAT(see(") {is_causal = 1, past_keys = -2"), HasSubstr("nan"));
  EXPECT_EQ(see(", %m) {is_causal = 1, nan_is_zero = 1"),
            "f32[1, 1, 5, 1] = {0, 4, 8, 15.333334, 15.333334}");
  EXPECT_EQ(see(") {past_keys = -2"), "f32[1, 1, 5, 1] = splat 12");
  // What is not seen counts for as much as a number says, to which the mask adds.
  EXPECT_EQ(see(") {is_causal = 1, behind = 0.0"), "f32[1, 1, 5, 1] = splat 12");
  EXPECT_EQ(see(") {is_causal = 1, behind = -1e4"), "f32[1, 1, 5, 1] = {2, 3, 6, 12, 12}");
  EXPECT_EQ(see(", %m) {is_causal = 1, behind = -1e4"),
            "f32[1, 1, 5, 1] = {15.333334, 4, 8, 15.333334, 15.333334}");
  EXPECT_THAT(see(") {is_causal = 1, behind = inf"), HasSubstr("\"behind\" is inf"));
  EXPECT_THAT(see(") {is_causal = 1, past_keys = 4611686018427387904"),
              HasSubstr("\"past_keys\" is"));
}

TEST(BlockAttentionTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(Block("", ", first_heads = [2, 0, 0]"),
              HasSubstr("input 0 has 2 heads where 3 are needed"));
  EXPECT_THAT(Block("", ", first_heads = [0, 0]"), HasSubstr("is not three numbers"));
  EXPECT_THAT(Block("const %m: f32[1, 1, 2, 2] = splat 0\n", ", first_heads = [0, 0, 0]"),
              HasSubstr("the mask (input 3) of shape [1, 1, 2, 2] does not fit scores"));
}

TEST(LinearAttentionTest, AddsKeysTimesValues) {
  const char* operands =
      "const %q: f32[1, 2, 1] = {1, 1}\nconst %k: f32[1, 2, 1] = {1, 2}\n"
      "const %v: f32[1, 2, 1] = {3, 4}\n";
  EXPECT_EQ(ValuesOf(operands,
                     "%y, %s = LinearAttention(%q, %k, %v) {kv_num_heads = 1, q_num_heads = 1, "
                     "update_rule = \"linear\"}"),
            "f32[1, 2, 1] = {3, 11}; f32[1, 1, 1, 1] = {11}");
  EXPECT_THAT(
      ValuesOf(operands, "%y = LinearAttention(%q, %k, %v) {kv_num_heads = 1, q_num_heads = 1}"),
      HasSubstr("takes a decay (input 4) and an update rate (input 5)"));
}

TEST(RotaryTest, TurnsPairs) {
  const char* operands =
      "const %x: f32[1, 1, 4] = {1, 2, 3, 4}\nconst %c: f32[2, 1] = {1, 0}\n"
      "const %s: f32[2, 1] = {0, 1}\nconst %p: i64[1, 1] = {1}\nconst %far: i64[1, 1] = {2}\n";
  EXPECT_EQ(
      ValuesOf(operands,
               "%y = RotaryEmbedding(%x, %c, %s, %p) {num_heads = 1, rotary_embedding_dim = 2}"),
      "f32[1, 1, 4] = {-2, 1, 3, 4}");
  EXPECT_THAT(ValuesOf(operands,
                       "%y = RotaryEmbedding(%x, %c, %s, %far) {num_heads = 1, "
                       "rotary_embedding_dim = 2}"),
              HasSubstr("a position (input 3) is outside of the cosines"));
}

}  // namespace
}  // namespace slipway
