#include "core/graph/graph_digest.h"

#include <string>

#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

Digest NamedDigest(const std::string& text) {
  return DigestOf(*ParseGraph(text), DigestNames::kIncluded);
}
Digest AnonymousDigest(const std::string& text) {
  return DigestOf(*ParseGraph(text), DigestNames::kIgnored);
}

constexpr char kBase[] =
    "graph \"g\" opset 28 (%x: f32[2]) -> (%y) {\n"
    "  const %w: f32[2] = {1, 2}\n  %y = Add \"n\" (%x, %w) {a = 1}\n}";

TEST(GraphDigestTest, IsStable) {
  // Recorded: a change here invalidates every cache and must be meant.
  EXPECT_EQ(NamedDigest(kBase).hex(),
            "a45c830d8a47f258073bfa370a7d56f521c0f4768fdacc61d13713244c7c975e");
  EXPECT_EQ(NamedDigest(kBase), NamedDigest(Print(*ParseGraph(kBase))));
}

TEST(GraphDigestTest, EverythingThatMattersCounts) {
  const std::string changes[][2] = {{"opset 28", "opset 29"},
                                    {"f32[2]) ->", "f32[1]) ->"},
                                    {"{1, 2}", "{1, 3}"},
                                    {"Add", "Sub"},
                                    {"{a = 1}", "{a = 1.0}"},
                                    {"{a = 1}", "{b = 1}"},
                                    {"{a = 1}", ""},
                                    {"(%x, %w)", "(%w, %x)"},
                                    {"(%x, %w)", "(%x, %w, _)"},
                                    {"-> (%y)", "-> (%y, %y)"}};
  for (const auto& change : changes) {
    std::string text = kBase;
    text.replace(text.find(change[0]), change[0].size(), change[1]);
    EXPECT_NE(NamedDigest(text), NamedDigest(kBase)) << text;
    EXPECT_NE(AnonymousDigest(text), AnonymousDigest(kBase)) << text;
  }
}

TEST(GraphDigestTest, SymbolsExpressionsAndQuantizationsCount) {
  const std::string base =
      "graph \"g\" opset 28 [b in 1..9] (%x: u8[b, ?] quantized {scales = [0.5], zeros = [1]}) -> "
      "(%x) "
      "{}";
  const std::string changes[][2] = {{"1..9", "1..8"},
                                    {"1..9", "0..9"},
                                    {"[b, ?]", "[b + 1, ?]"},
                                    {"[b, ?]", "[?, ?]"},
                                    {"[b, ?]", "[b, 1]"},
                                    {"[0.5]", "[0.25]"},
                                    {"zeros = [1]", "zeros = [2]"},
                                    {" quantized {scales = [0.5], zeros = [1]}", ""},
                                    {"[b in 1..9]", "[b in 1..9, c in 1..9]"}};
  for (const auto& change : changes) {
    std::string text = base;
    text.replace(text.find(change[0]), change[0].size(), change[1]);
    EXPECT_NE(NamedDigest(text), NamedDigest(base)) << text;
    EXPECT_NE(AnonymousDigest(text), AnonymousDigest(base)) << text;
  }
  const std::string per_axis =
      "graph \"g\" opset 28 (%x: u8[1] quantized {axis = 0, scales = [0.5], zeros = [1]}) -> (%x) "
      "{}";
  const std::string per_tensor =
      "graph \"g\" opset 28 (%x: u8[1] quantized {scales = [0.5], zeros = [1]}) -> (%x) {}";
  EXPECT_NE(NamedDigest(per_axis), NamedDigest(per_tensor));
}

TEST(GraphDigestTest, NamesCountWhereAsked) {
  const std::string changes[][2] = {{"\"g\"", "\"h\""}, {"\"n\"", "\"m\""}};
  for (const auto& change : changes) {
    std::string text = kBase;
    text.replace(text.find(change[0]), change[0].size(), change[1]);
    EXPECT_NE(NamedDigest(text), NamedDigest(kBase)) << text;
    EXPECT_EQ(AnonymousDigest(text), AnonymousDigest(kBase)) << text;
  }
  const std::string renamed =
      "graph \"g\" opset 28 (%p: f32[2]) -> (%q) {\n"
      "  const %r: f32[2] = {1, 2}\n  %q = Add \"n\" (%p, %r) {a = 1}\n}";
  EXPECT_NE(NamedDigest(renamed), NamedDigest(kBase));
  EXPECT_EQ(AnonymousDigest(renamed), AnonymousDigest(kBase));
}

TEST(GraphDigestTest, NumberingAndUnusedValuesDoNotCount) {
  Graph graph = *ParseGraph(kBase);
  Graph other;
  other.name = graph.name;
  other.AddValue("unused");
  const ValueId y = other.AddValue("y");
  const ValueId w = other.AddConstant("w", *graph.values[1].constant);
  const ValueId x = other.AddInput("x", graph.values[0].type);
  other.nodes.push_back(Node{"n", "Add", {x, w}, {y}, {{"a", int64_t{1}}}});
  other.outputs = {y};
  EXPECT_EQ(DigestOf(other, DigestNames::kIncluded), NamedDigest(kBase));
}

}  // namespace
}  // namespace slipway
