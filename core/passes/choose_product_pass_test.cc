#include "core/passes/choose_product_pass.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/text.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

// Halves everything that has halves, and tells what it was asked for.
Pass Halving(std::vector<std::string>& asked) {
  return [&asked](Graph graph, const PassContext& context) {
    return ChooseProduct(std::move(graph), context, [&asked](const ProductExtents& product) {
      asked.push_back(absl::StrCat(product.rows, " ", product.depth, " ", product.columns));
      return true;
    });
  };
}

// Quarters 1, 2, 4 and 8: blocks of a column, a step each.
TEST(ChooseProduct, SumsQuartersOfWeights) {
  const PassTester tester;
  std::vector<std::string> asked;
  EXPECT_OK(tester.Check(Halving(asked), R"(
    graph "g" (%x: f32[5, 2]) -> (%y) {
      const %w: f32[2, 2, 1] = {1.0, 4.0, 2.0, 8.0}
      const %b: f32[2] = {1.0, 2.0}
      %y = slipway.GemmPacked "p" (%x, %w, %b) {columns = 2}
    })",
                         R"(
    graph "g" (%x: f32[5, 2]) -> (%y) {
      const %b: f32[2] = {1.0, 2.0}
      const %w_halves: f32[1, 7, 1, 1] = {9.0, 1.0, -6.0, 3.0, 8.0, 3.0, 12.0}
      %y = slipway.StrassenGemm "p" (%x, %w_halves, %b)
    })"));
  EXPECT_EQ(asked, std::vector<std::string>{"5 2 2"});
}

// Channels 0 and 1 are a block of x, and so are 2 and 3.
TEST(ChooseProduct, PlacesOfImagesAreRows) {
  const PassTester tester;
  std::vector<std::string> asked;
  EXPECT_OK(tester.Check(Halving(asked), R"(
    graph "g" (%x: f32[2, 2, 3, 5, 2]) -> (%y) {
      const %w: f32[2, 2, 1, 1, 2, 1] = {1.0, 10.0, 4.0, 40.0, 2.0, 20.0, 8.0, 80.0}
      %y = slipway.ConvNCHWc "c" (%x, %w)
    })",
                         R"(
    graph "g" (%x: f32[2, 2, 3, 5, 2]) -> (%y) {
      const %w_halves: f32[1, 7, 2, 1] = {9.0, 90.0, 1.0, 10.0, -6.0, -60.0, 3.0, 30.0, 8.0, 80.0, 3.0, 30.0, 12.0, 120.0}
      %y = slipway.StrassenConvNCHWc "c" (%x, %w_halves)
    })"));
  EXPECT_EQ(asked, std::vector<std::string>{"30 4 2"});
}

TEST(ChooseProduct, LeavesWhatHasNoHalves) {
  const PassTester tester;
  struct Case {
    const char* x;
    const char* w;
    const char* node;
  };
  for (const Case& c :
       {Case{"f32[5, 3]", "f32[2, 3, 1]", "slipway.GemmPacked(%x, %w) {columns = 2}"},
        Case{"f32[5, 2]", "f32[3, 2, 1]", "slipway.GemmPacked(%x, %w) {columns = 3}"},
        Case{"f32[5, 2]", "f32[2, 2, 4]", "slipway.GemmPacked(%x, %w) {columns = 7}"},
        Case{"f32[1, 2, 5, 5, 2]", "f32[2, 2, 3, 3, 2, 1]", "slipway.ConvNCHWc(%x, %w)"},
        Case{"f32[1, 2, 5, 5, 2]", "f32[2, 2, 1, 1, 2, 1]",
             "slipway.ConvNCHWc(%x, %w) {strides = [2, 1]}"},
        Case{"f32[1, 2, 5, 5, 2]", "f32[2, 2, 1, 1, 2, 1]",
             "slipway.ConvNCHWc(%x, %w) {pads = [0, 1, 0, 0]}"},
        Case{"f32[1, 4, 5, 5, 2]", "f32[2, 2, 1, 1, 2, 1]",
             "slipway.ConvNCHWc(%x, %w) {group = 2}"},
        Case{"f32[1, 3, 5, 5, 2]", "f32[2, 3, 1, 1, 2, 1]", "slipway.ConvNCHWc(%x, %w)"},
        Case{"f32[1, 2, 5, 5, 2]", "f32[3, 2, 1, 1, 2, 1]", "slipway.ConvNCHWc(%x, %w)"},
        Case{"f32[1, 4, 5, 5]", "f32[2, 4, 1, 1, 2]", "slipway.ConvNCHWc(%x, %w)"}}) {
    std::vector<std::string> asked;
    const std::string text =
        absl::StrCat("graph \"g\" (%x: ", c.x, ") -> (%y) {\n  const %w: ", c.w,
                     " = splat 0.5\n  %y = ", c.node, "\n}");
    EXPECT_OK(tester.Check(Halving(asked), text, text));
    EXPECT_TRUE(asked.empty()) << text;
  }
  // Weights that only a call brings.
  std::vector<std::string> asked;
  const char* given = R"(
    graph "g" (%x: f32[5, 2], %w: f32[2, 2, 1]) -> (%y) {
      %y = slipway.GemmPacked "p" (%x, %w) {columns = 2}
    })";
  EXPECT_OK(tester.Check(Halving(asked), given, given));
  EXPECT_TRUE(asked.empty());
}

TEST(ChooseProduct, LeavesOpenRows) {
  const PassTester tester;
  std::vector<std::string> asked;
  for (const char* open : {R"(
    graph "g" [n in 1..9] (%x: f32[n, 2]) -> (%y) {
      const %w: f32[2, 2, 1] = splat 0.5
      %y = slipway.GemmPacked "p" (%x, %w) {columns = 2}
    })",
                           R"(
    graph "g" [n in 1..9] (%x: f32[n, 2, 3, 5, 2]) -> (%y) {
      const %w: f32[2, 2, 1, 1, 2, 1] = splat 0.5
      %y = slipway.ConvNCHWc "c" (%x, %w)
    })"}) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(open));
    ASSERT_OK_AND_ASSIGN(const Graph same, Halving(asked)(graph, tester.context()));
    EXPECT_EQ(Print(same), Print(graph));
  }
  EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace slipway
