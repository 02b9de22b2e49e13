#include "core/passes/choose_convolution_pass.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

Pass Choosing(int64_t outputs) {
  return [outputs](Graph graph, const PassContext& context) {
    return ChooseConvolution(std::move(graph), context,
                             [outputs](const ConvView&) { return outputs; });
  };
}

// One channel out and in, of two: G w G' of a kernel whose middle alone is not 0 is the outer product of G's middle column.
TEST(ChooseConvolution, TransformsWeights) {
  const PassTester tester;
  const char* before = R"(
    graph "g" (%x: f32[1, 1, 5, 5, 2]) -> (%y) {
      const %w: f32[1, 1, 3, 3, 2, 1] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}
      const %b: f32[1] = {1.0}
      %y = slipway.ConvNCHWc "c" (%x, %w, %b) {pads = [1, 0, 1, 0]}
    })";
  EXPECT_OK(tester.Check(Choosing(2), before, R"(
    graph "g" (%x: f32[1, 1, 5, 5, 2]) -> (%y) {
      const %b: f32[1] = {1.0}
      const %w_tiles: f32[4, 4, 1, 1, 2, 1] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, -1.0, -2.0, 0.0, 0.0, 0.0, 0.0, -1.0, -2.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}
      %y = slipway.WinogradConvNCHWc "c" (%x, %w_tiles, %b) {pads = [1, 0, 1, 0]}
    })"));
  EXPECT_OK(tester.Check(Choosing(0), before, before));
}

TEST(ChooseConvolution, LeavesWhatHasNoTiles) {
  const PassTester tester;
  struct Case {
    const char* x;
    const char* w;
    const char* attributes;
  };
  for (const Case& c : {Case{"f32[1, 1, 5, 5, 2]", "f32[1, 1, 3, 3, 2, 2]", "{strides = [2, 1]}"},
                        Case{"f32[1, 1, 5, 5, 2]", "f32[1, 1, 3, 3, 2, 2]", "{dilations = [1, 2]}"},
                        Case{"f32[1, 1, 5, 5, 2]", "f32[1, 1, 3, 2, 2, 2]", ""},
                        Case{"f32[1, 2, 5, 5, 2]", "f32[2, 1, 3, 3, 2, 2]", "{group = 2}"},
                        Case{"f32[1, 3, 5, 5]", "f32[1, 3, 3, 3, 2]", ""}}) {
    const std::string text =
        absl::StrCat("graph \"g\" (%x: ", c.x, ") -> (%y) {\n  const %w: ", c.w,
                     " = splat 0.5\n  %y = slipway.ConvNCHWc \"c\" (%x, %w) ", c.attributes, "\n}");
    EXPECT_OK(tester.Check(Choosing(4), text, text));
  }
  // Weights that only a call brings.
  const char* open = R"(
    graph "g" (%x: f32[1, 1, 5, 5, 2], %w: f32[1, 1, 3, 3, 2, 2]) -> (%y) {
      %y = slipway.ConvNCHWc "c" (%x, %w)
    })";
  EXPECT_OK(tester.Check(Choosing(4), open, open));
}

}  // namespace
}  // namespace slipway
