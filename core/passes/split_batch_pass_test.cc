#include "core/passes/split_batch_pass.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Images of the tests are larger, and so is what a step costs.
constexpr int64_t kCacheBytes = 64 << 10;

absl::StatusOr<Graph> Split(Graph graph, const PassContext& context) {
  return SplitBatch(std::move(graph), context, kCacheBytes);
}

// What the pass makes of a node between two that it takes images in turn for.
absl::StatusOr<std::string> Between(const std::string& inputs, const std::string& node) {
  return PassTester().After(Split, absl::StrCat(R"(
    graph "g" (%x: f32[2, 16, 64, 64])",
                                                inputs, R"() -> (%z) {
      %a = MaxPool "a" (%x) {kernel_shape = [1, 1]}
      )",
                                                node, R"(
      %z = MaxPool "z" (%y) {kernel_shape = [1, 1]}
    })"));
}

TEST(SplitBatch, TakesImagesInTurn) {
  EXPECT_OK(PassTester().Check(Split, R"(
    graph "g" (%x: f32[2, 16, 64, 64]) -> (%y) {
      %a = MaxPool "a" (%x) {kernel_shape = [1, 1]}
      %b = Relu "b" (%a)
      %y = Add "c" (%b, %x)
    })",
                               R"(
    graph "g" (%x: f32[2, 16, 64, 64]) -> (%y) {
      %x_image0, %x_image1 = Split "x_images" (%x) {axis = 0, num_outputs = 2}
      %a_image0 = MaxPool "a_image0" (%x_image0) {kernel_shape = [1, 1]}
      %b_image0 = Relu "b_image0" (%a_image0)
      %y_image0 = Add "c_image0" (%b_image0, %x_image0)
      %a_image1 = MaxPool "a_image1" (%x_image1) {kernel_shape = [1, 1]}
      %b_image1 = Relu "b_image1" (%a_image1)
      %y_image1 = Add "c_image1" (%b_image1, %x_image1)
      %y = Concat "y_joined" (%y_image0, %y_image1) {axis = 0}
    })"));
}

TEST(SplitBatch, JoinsWhatIsReadBehind) {
  EXPECT_OK(PassTester().Check(Split, R"(
    graph "g" (%x: f32[2, 16, 64, 64]) -> (%b, %y) {
      const %axes: i64[1] = {0}
      %a = MaxPool "a" (%x) {kernel_shape = [1, 1]}
      %b = MaxPool "b" (%a) {kernel_shape = [2, 2]}
      %y = ReduceMax "y" (%a, %axes)
    })",
                               R"(
    graph "g" (%x: f32[2, 16, 64, 64]) -> (%b, %y) {
      const %axes: i64[1] = {0}
      %x_image0, %x_image1 = Split "x_images" (%x) {axis = 0, num_outputs = 2}
      %a_image0 = MaxPool "a_image0" (%x_image0) {kernel_shape = [1, 1]}
      %b_image0 = MaxPool "b_image0" (%a_image0) {kernel_shape = [2, 2]}
      %a_image1 = MaxPool "a_image1" (%x_image1) {kernel_shape = [1, 1]}
      %b_image1 = MaxPool "b_image1" (%a_image1) {kernel_shape = [2, 2]}
      %a = Concat "a_joined" (%a_image0, %a_image1) {axis = 0}
      %b = Concat "b_joined" (%b_image0, %b_image1) {axis = 0}
      %y = ReduceMax "y" (%a, %axes)
    })"));
}

// 1.1 MB of weights, which would be read for each image.
TEST(SplitBatch, LeavesHeavyWeightsBetweenTwoRanges) {
  ASSERT_OK_AND_ASSIGN(
      const std::string text,
      Between(", %w: f32[16, 16, 33, 33]", "%y = Conv \"y\" (%a, %w) {pads = [16, 16, 16, 16]}"));
  EXPECT_THAT(text, AllOf(HasSubstr("\"a_image1\""), HasSubstr("Conv \"y\" (%a, %w)"),
                          HasSubstr("\"z_image1\"")));
}

TEST(SplitBatch, LeavesWhatACacheHolds) {
  ASSERT_OK_AND_ASSIGN(const std::string text, PassTester().After(Split, R"(
    graph "g" (%x: f32[2, 1, 64, 64]) -> (%y) { %y = MaxPool(%x) {kernel_shape = [1, 1]} })"));
  EXPECT_THAT(text, Not(HasSubstr("Split")));
}

// The results are compared by After().
TEST(SplitBatch, TakesNodesThatKeepImagesApart) {
  const std::pair<const char*, const char*> kCases[] = {
      {", %w: f32[16, 16, 1, 1], %b: f32[16]", "%y = Conv \"y\" (%a, %w, %b)"},
      {"", "%y = AveragePool \"y\" (%a) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}"},
      {"", "%y = Transpose \"y\" (%a) {perm = [0, 2, 3, 1]}"},
      {"", "const %s: i64[4] = {2, 32, 32, 64} %y = Reshape \"y\" (%a, %s)"},
      {"", "const %s: i64[2] = {2, 3} %y = ReduceMean \"y\" (%a, %s)"},
      {"", "%y = Concat \"y\" (%a, %x) {axis = 1}"},
      {"", "%y, %u = Split \"y\" (%a) {axis = 1, num_outputs = 2}"},
      {"",
       "const %b: i64[1] = {1} const %e: i64[1] = {60} const %s: i64[1] = {2} "
       "%y = Slice \"y\" (%a, %b, %e, %s)"},
      {"", "const %p: i64[8] = {0, 0, 1, 1, 0, 0, 2, 2} %y = Pad \"y\" (%a, %p)"},
      {"", "const %s: i64[4] = {2, 16, 128, 96} %y = Resize \"y\" (%a, _, _, %s)"},
      {"", "const %s: f32[4] = {1.0, 1.0, 2.0, 1.5} %y = Resize \"y\" (%a, _, %s)"},
      {", %t: f32[16, 1, 1]", "%y = Mul \"y\" (%a, %t)"},
      {", %t: f32[1, 16, 1, 64]", "%y = Sub \"y\" (%t, %a)"},
  };
  for (const auto& [inputs, node] : kCases) {
    ASSERT_OK_AND_ASSIGN(const std::string text, Between(inputs, node));
    EXPECT_THAT(text, HasSubstr("\"y_image1\"")) << node;
  }
}

TEST(SplitBatch, TakesBlockedImages) {
  ASSERT_OK_AND_ASSIGN(const std::string text, PassTester().After(Split, R"(
    graph "g" (%x: f32[2, 16, 64, 64], %w: f32[1, 2, 1, 1, 8, 16]) -> (%y) {
      %a = slipway.Pack "a" (%x) {block = 8}
      %b = slipway.ConvNCHWc "b" (%a, %w)
      %c = slipway.MaxPoolNCHWc "c" (%b) {kernel_shape = [1, 1]}
      %y = slipway.Unpack "y" (%c)
    })"));
  for (const char* name : {"a", "b", "c", "y"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\"", name, "_image1\"")));
  }
}

TEST(SplitBatch, LeavesNodesThatMixImages) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "%y = Transpose \"y\" (%a) {perm = [1, 0, 2, 3]}"},
      {"",
       "const %s: i64[4] = {2, 16, 64, 64} %u = Softmax \"y\" (%a) {axis = 0} "
       "%y = Reshape (%u, %s)"},
      {"", "%y = Concat \"y\" (%a, %x) {axis = 0}"},
      {"",
       "const %b: i64[1] = {1} const %e: i64[1] = {-3} const %s: i64[1] = {0} "
       "const %t: i64[1] = {-1} %y = Slice \"y\" (%a, %b, %e, %s, %t)"},
      {"", "const %p: i64[8] = {1, 0, 0, 0, -1, 0, 0, 0} %y = Pad \"y\" (%a, %p)"},
      {"", "const %s: f32[2] = {0.5, 0.25} %y = DequantizeLinear \"y\" (%q, %s) {axis = 0}"},
  };
  for (const auto& [inputs, node] : kCases) {
    const std::string more =
        std::string(node).find("%q") == std::string::npos ? inputs : ", %q: u8[2, 16, 64, 64]";
    ASSERT_OK_AND_ASSIGN(const std::string text, Between(more, node));
    EXPECT_THAT(text, Not(HasSubstr("\"y_image1\""))) << node;
  }
}

}  // namespace
}  // namespace slipway
