#include "core/passes/alter_layout_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "core/graph/text.h"
#include "core/passes/canonicalize_ops_pass.h"
#include "core/passes/channel_layout.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

constexpr char kWindow[] =
    "dilations = [1, 1], kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]";

using Blocks = std::vector<int64_t>;

Pass AlterLayoutIn(Blocks channel_blocks) {
  return [channel_blocks = std::move(channel_blocks)](Graph graph, const PassContext& context) {
    return AlterLayout(std::move(graph), context, channel_blocks);
  };
}

// How often each operator is there after the pass, which has to compute the same as before.
std::map<std::string, int> Operators(const Blocks& blocks, absl::string_view text) {
  const PassTester tester;
  std::map<std::string, int> counts;
  auto before = tester.Parse(text);
  EXPECT_OK(before);
  if (before.ok()) before = CanonicalizeOps(*before, tester.context());
  EXPECT_OK(before);
  if (!before.ok()) return counts;
  const auto after = AlterLayout(*before, tester.context(), blocks);
  EXPECT_OK(after);
  if (!after.ok()) return counts;
  EXPECT_OK(tester.CheckSameResults(*before, *after, 3));
  for (const Node& node : after->nodes) ++counts[node.op];
  return counts;
}

// Three channels become a block of four where somebody wants that; what does not is a plain image.
TEST(AlterLayout, PacksFewChannelsWhereThatIsWanted) {
  const PassTester tester;
  for (const int64_t channels : {3, 4}) {
    ASSERT_OK_AND_ASSIGN(const Graph before, tester.Parse(absl::Substitute(R"(
    graph "g" (%x: f32[1, $0, 5, 6]) -> (%y, %z) {
      const %w: f32[4, $0, 3, 3] = splat 0.5
      const %v: f32[4, $0, 1, 1] = splat 0.25
      %y = Conv "c" (%x, %w) {pads = [1, 1, 1, 1]}
      %z = Conv "d" (%x, %v)
    })",
                                                                           channels)));
    const auto is_wide = [](const ConvView& conv) { return conv.window.kernel[1] > 1; };
    ASSERT_OK_AND_ASSIGN(const Graph after, AlterLayout(before, tester.context(), {4}, is_wide));
    EXPECT_OK(tester.CheckSameResults(before, after, 3));
    std::map<std::string, int> counts;
    for (const Node& node : after.nodes) ++counts[node.op];
    EXPECT_EQ(counts["slipway.Pack"], 1);
    EXPECT_THAT(Print(after), ::testing::HasSubstr("f32[1, 1, 3, 3, 4, 4]"));
    EXPECT_THAT(Print(after),
                ::testing::HasSubstr(absl::StrCat("f32[1, ", channels, ", 1, 1, 4]")));
  }
}

TEST(AlterLayout, BlocksAConvWithFewChannelsFromPlainInput) {
  const PassTester tester;
  EXPECT_OK(tester.Check(AlterLayoutIn({4}),
                         absl::StrCat(R"(
    graph "g" (%x: f32[1, 2, 2, 2]) -> (%y) {
      const %w: f32[4, 2, 1, 1] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}
      const %b: f32[4] = {1.0, 2.0, 3.0, 4.0}
      %c = Conv "c" (%x, %w, %b) {group = 1, )",
                                      kWindow, R"(}
      %y = Relu "r" (%c)
    })"),
                         absl::StrCat(R"(
    graph "g" (%x: f32[1, 2, 2, 2]) -> (%y) {
      const %b: f32[4] = {1.0, 2.0, 3.0, 4.0}
      const %w_packed: f32[1, 2, 1, 1, 4] = {1.0, 3.0, 5.0, 7.0, 2.0, 4.0, 6.0, 8.0}
      %c_1 = slipway.ConvNCHWc "c" (%x, %w_packed, %b) {group = 1, )",
                                      kWindow, R"(}
      %r = Relu "r" (%c_1)
      %y = slipway.Unpack "y_nchw" (%r) {block = 4}
    })")));
}

// One row of pixels is not in the order of its channels, as one pixel is.
TEST(AlterLayout, OnlyASinglePixelIsPackedByReshape) {
  for (const auto& [extents, packs] :
       {std::pair("1, 2", 1), std::pair("2, 1", 1), std::pair("1, 1", 0)}) {
    const std::string text = absl::StrCat(
        R"(
    graph "g" (%x: f32[1, 4, )",
        extents, "], %z: f32[1, 4, ", extents, R"(]) -> (%y) {
      const %w: f32[4, 4, 1, 1] =
          {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0}
      %c = Conv "c" (%x, %w) {group = 1, )",
        kWindow, R"(}
      %y = Add(%c, %z)
    })");
    std::map<std::string, int> counts = Operators({4}, text);
    EXPECT_EQ(counts["slipway.ConvNCHWc"], 1) << extents;
    EXPECT_EQ(counts["slipway.Pack"], packs) << extents;
  }
}

TEST(AlterLayout, StaysBlockedThroughAResidualBlock) {
  const std::map<std::string, int> operators = Operators({16, 8, 4}, R"(
    graph "g" (%x: f32[1, 16, 6, 6]) -> (%y) {
      const %w: f32[16, 16, 3, 3] = splat 0.1
      const %d: f32[16, 1, 3, 3] = splat 0.2
      const %scale: f32[16, 1, 1] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0}
      %a = Conv(%x, %w) {pads = [1, 1, 1, 1]}
      %b = Conv(%a, %d) {group = 16, pads = [1, 1, 1, 1]}
      %c = Mul(%b, %scale)
      %e = Add(%c, %x)
      %f = MaxPool(%e) {kernel_shape = [2, 2], strides = [2, 2]}
      %g = AveragePool(%f) {kernel_shape = [2, 2]}
      %h = Concat(%g, %g) {axis = 1}
      %m = GlobalAveragePool(%h)
      %y = Flatten(%m)
    })");
  EXPECT_EQ(operators, (std::map<std::string, int>{{"slipway.Pack", 1},
                                                   {"slipway.ConvNCHWc", 1},
                                                   {"slipway.DepthwiseConvNCHWc", 1},
                                                   {"Mul", 1},
                                                   {"Add", 1},
                                                   {"slipway.MaxPoolNCHWc", 1},
                                                   {"slipway.AveragePoolNCHWc", 1},
                                                   {"Concat", 1},
                                                   {"ReduceMean", 1},
                                                   {"Reshape", 1}}));
}

TEST(AlterLayout, UnpacksOnceForAllReaders) {
  const std::map<std::string, int> operators = Operators({8, 4}, R"(
    graph "g" (%x: f32[1, 1, 4, 4]) -> (%y, %z) {
      const %w: f32[8, 1, 1, 1] = splat 0.5
      %c = Conv(%x, %w)
      %y = LRN(%c) {size = 3}
      %z = Transpose(%c) {perm = [0, 2, 3, 1]}
    })");
  EXPECT_EQ(operators,
            (std::map<std::string, int>{
                {"slipway.ConvNCHWc", 1}, {"slipway.Unpack", 1}, {"LRN", 1}, {"Transpose", 1}}));
}

TEST(AlterLayout, CutsChannelsThatNoBlockDividesOutOfBlocks) {
  const PassTester tester;
  EXPECT_OK(tester.Check(AlterLayoutIn({8, 4}),
                         absl::StrCat(R"(
    graph "g" (%x: f32[1, 2, 2, 2]) -> (%y) {
      const %w: f32[5, 2, 1, 1] = splat 0.5
      const %b: f32[5] = {1.0, 2.0, 3.0, 4.0, 5.0}
      %c = Conv "c" (%x, %w, %b) {group = 1, )",
                                      kWindow, R"(}
      %y = Relu "r" (%c)
    })"),
                         absl::StrCat(R"(
    graph "g" (%x: f32[1, 2, 2, 2]) -> (%y) {
      const %w_packed: f32[1, 2, 1, 1, 8] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0}
      const %b_covered: f32[8] = {1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0}
      const %c_begin: i64[1] = {0}
      const %c_end: i64[1] = {5}
      const %c_axis: i64[1] = {1}
      %c_1 = slipway.ConvNCHWc "c" (%x, %w_packed, %b_covered) {group = 1, )",
                                      kWindow, R"(}
      %c_nchw = slipway.Unpack "c_nchw" (%c_1) {block = 8}
      %c_cut = Slice "c_cut" (%c_nchw, %c_begin, %c_end, %c_axis)
      %y = Relu "r" (%c_cut)
    })")));
  // What it reads is blocked as for others.
  EXPECT_EQ(
      Operators({8, 4}, R"(
    graph "g" (%x: f32[1, 8, 4, 4]) -> (%y) {
      const %w: f32[8, 8, 3, 3] = splat 0.5
      const %v: f32[6, 8, 1, 1] = splat 0.5
      %c = Conv(%x, %w)
      %y = Conv(%c, %v)
    })"),
      (std::map<std::string, int>{
          {"slipway.Pack", 1}, {"slipway.ConvNCHWc", 2}, {"slipway.Unpack", 1}, {"Slice", 1}}));
}

TEST(AlterLayout, TheFewestBlocksCoverChannels) {
  EXPECT_EQ(BlockCovering(546, {16, 8, 4}), 16);
  EXPECT_EQ(BlockCovering(5, {16, 8, 4}), 8);
  EXPECT_EQ(BlockCovering(3, {16, 8, 4}), 4);
  EXPECT_EQ(BlockCovering(17, {16, 8, 4}), 16);
}

TEST(AlterLayout, GroupedConvsNeedBlocksWithinTheirGroups) {
  EXPECT_EQ(Operators({16, 8, 4}, R"(
    graph "g" (%x: f32[1, 16, 4, 4]) -> (%y) {
      const %w: f32[32, 8, 1, 1] = splat 0.5
      %y = Conv(%x, %w) {group = 2}
    })"),
            (std::map<std::string, int>{
                {"slipway.Pack", 1}, {"slipway.ConvNCHWc", 1}, {"slipway.Unpack", 1}}));
  EXPECT_EQ(Operators({16, 8, 4}, R"(
    graph "g" (%x: f32[1, 16, 4, 4]) -> (%y) {
      const %w: f32[24, 8, 1, 1] = splat 0.5
      const %v: f32[24, 6, 1, 1] = splat 0.5
      %c = Conv(%x, %w) {group = 2}
      %r = Relu(%c)
      %y = Conv(%r, %v) {group = 4}
    })"),
            (std::map<std::string, int>{{"slipway.Pack", 1},
                                        {"slipway.ConvNCHWc", 1},
                                        {"slipway.Unpack", 1},
                                        {"Relu", 1},
                                        {"Conv", 1}}));
}

TEST(AlterLayout, ChannelsAreCutInWholeBlocks) {
  const char kCut[] = R"(
    graph "g" (%x: f32[2, 16, 6, 5]) -> (%y, %z) {
      const %w: f32[16, 16, 1, 1] = splat 0.1
      const %v: f32[8, 8, 1, 1] = splat 0.2
      const %starts: i64[3] = {8, 1, -4}
      const %ends: i64[3] = {16, 6, 9}
      const %axes: i64[3] = {1, 2, 3}
      const %steps: i64[3] = {1, 2, 3}
      %a = Conv(%x, %w)
      %s = Slice(%a, %starts, %ends, %axes, %steps)
      %y = Conv(%s, %v)
      %q, _ = Split(%a) {axis = 1, num_outputs = 2}
      %z = Conv(%q, %v)
    })";
  std::map<std::string, int> expected = {
      {"slipway.Pack", 1}, {"slipway.ConvNCHWc", 3}, {"Slice", 2}, {"slipway.Unpack", 2}};
  EXPECT_EQ(Operators({8, 4}, kCut), expected);
  // Not by blocks that are larger than the parts, nor by smaller ones than the rest of the image would have.
  expected = {{"slipway.Pack", 3},
              {"slipway.ConvNCHWc", 3},
              {"slipway.Unpack", 3},
              {"Slice", 1},
              {"Split", 1}};
  EXPECT_EQ(Operators({16, 8, 4}, kCut), expected);
}

TEST(AlterLayout, ImagesAreResizedAndPaddedInBlocks) {
  EXPECT_EQ(Operators({8, 4}, R"(
    graph "g" (%x: f32[1, 8, 4, 3]) -> (%y) {
      const %w: f32[8, 8, 1, 1] = splat 0.1
      const %sizes: i64[4] = {1, 8, 8, 9}
      const %more: i64[2] = {5, 4}
      const %pads: i64[8] = {0, 0, 1, 2, 0, 0, -1, 1}
      const %value: f32[] = {0.5}
      %a = Conv(%x, %w)
      %n = Resize(%a, _, _, %sizes) {mode = "nearest", coordinate_transformation_mode = "asymmetric"}
      %l = Resize(%n, _, _, %more) {axes = [-1, 2], mode = "linear"}
      %p = Pad(%l, %pads, %value)
      %r = Pad(%p, %pads) {mode = "reflect"}
      %y = Conv(%r, %w)
    })"),
            (std::map<std::string, int>{{"slipway.Pack", 1},
                                        {"slipway.ConvNCHWc", 2},
                                        {"Resize", 2},
                                        {"Pad", 2},
                                        {"slipway.Unpack", 1}}));
  // Channels that are resized or padded, too, are no blocks.
  EXPECT_EQ(Operators({8, 4}, R"(
    graph "g" (%x: f32[1, 8, 4, 3]) -> (%y) {
      const %w: f32[8, 8, 1, 1] = splat 0.1
      const %sizes: i64[4] = {1, 16, 4, 3}
      const %pads: i64[8] = {0, 8, 0, 0, 0, 0, 0, 0}
      %a = Conv(%x, %w)
      %n = Resize(%a, _, _, %sizes) {mode = "nearest"}
      %y = Pad(%n, %pads)
    })"),
            (std::map<std::string, int>{{"slipway.Pack", 1},
                                        {"slipway.ConvNCHWc", 1},
                                        {"slipway.Unpack", 1},
                                        {"Resize", 1},
                                        {"Pad", 1}}));
}

TEST(AlterLayout, AnImageWithoutBlocksLeavesThoseItIsJoinedWith) {
  EXPECT_EQ(Operators({8, 4}, R"(
    graph "g" (%x: f32[1, 3, 4, 4]) -> (%y) {
      const %w: f32[8, 3, 3, 3] = splat 0.1
      const %d: f32[8, 1, 3, 3] = splat 0.2
      const %v: f32[8, 11, 1, 1] = splat 0.1
      %a = Conv(%x, %w) {pads = [1, 1, 1, 1]}
      %b = Conv(%a, %d) {group = 8, pads = [1, 1, 1, 1]}
      %c = Concat(%x, %b) {axis = 1}
      %y = Conv(%c, %v)
    })"),
            (std::map<std::string, int>{{"slipway.ConvNCHWc", 2},
                                        {"slipway.DepthwiseConvNCHWc", 1},
                                        {"slipway.Unpack", 2},
                                        {"Concat", 1}}));
}

TEST(AlterLayout, NormalizesInBlocks) {
  // Groups may be smaller than blocks, or cross them.
  for (const int groups : {8, 4, 3, 2, 1}) {
    const std::map<std::string, int> operators = Operators({8, 4}, absl::StrCat(R"(
    graph "g" (%x: f32[2, 24, 3, 5], %bias: f32[24]) -> (%y) {
      const %w: f32[24, 24, 1, 1] = splat 0.1
      const %scale: f32[24] = splat 2.0
      %a = Conv(%x, %w)
      %b = GroupNormalization(%a, %scale, %bias) {num_groups = )",
                                                                                groups, R"(}
      %c = InstanceNormalization(%b, %bias, %scale) {epsilon = 0.5}
      %d = Relu(%c)
      %y = Conv(%d, %w)
    })"));
    EXPECT_EQ(operators.at("slipway.ConvNCHWc"), 2);
    EXPECT_EQ(operators.at("slipway.Pack"), 1);
    EXPECT_EQ(operators.at("slipway.Unpack"), 1);
    EXPECT_EQ(operators.count("GroupNormalization"), 0u);
    EXPECT_EQ(operators.count("InstanceNormalization"), 0u);
  }
}

TEST(AlterLayout, LeavesGraphsWithoutConvolutions) {
  const PassTester tester;
  const char* text = R"(
    graph "g" (%x: f32[1, 16, 4, 4]) -> (%y) {
      %r = Relu "r" (%x)
      %y = MaxPool "p" (%r) {kernel_shape = [2, 2]}
    })";
  EXPECT_OK(tester.Check(AlterLayoutIn({8, 4}), text, text));
}

}  // namespace
}  // namespace slipway
