#include "core/operators/convolution.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/operators/type_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

std::string Conv(const std::string& x, const std::string& w, const std::string& attributes = "") {
  return TypeOf(absl::StrCat("%x: ", x, ", %w: ", w),
                absl::StrCat("%y = Conv(%x, %w) {", attributes, "}"));
}

TEST(ConvolutionTypeTest, FollowsTheFormula) {
  EXPECT_EQ(
      Conv("f32[1, 3, 224, 224]", "f32[64, 3, 7, 7]", "pads = [3, 3, 3, 3], strides = [2, 2]"),
      "f32[1, 64, 112, 112]");
  EXPECT_EQ(Conv("f32[2, 4, 9]", "f32[6, 2, 3]", "group = 2, dilations = [2]"), "f32[2, 6, 5]");
  EXPECT_EQ(Conv("f32[1, 1, 5, 6, 7]", "f32[1, 1, 1, 2, 3]"), "f32[1, 1, 5, 5, 5]");
  EXPECT_EQ(Conv("f32[0, 3, 4, 4]", "f32[2, 3, 1, 1]"), "f32[0, 2, 4, 4]");
  // Padding as wide as the kernel makes outputs that see padding alone.
  EXPECT_EQ(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 1, 1]", "pads = [1, 1, 1, 1]"), "f32[1, 1, 6, 6]");
}

TEST(ConvolutionTypeTest, ResolvesAutoPad) {
  EXPECT_EQ(
      Conv("f32[1, 1, 5, 6]", "f32[1, 1, 3, 3]", "auto_pad = \"SAME_UPPER\", strides = [2, 2]"),
      "f32[1, 1, 3, 3]");
  EXPECT_EQ(Conv("f32[1, 1, 5, 6]", "f32[1, 1, 3, 3]", "auto_pad = \"VALID\", strides = [2, 2]"),
            "f32[1, 1, 2, 2]");
  EXPECT_THAT(Conv("f32[1, 1, 5, 6]", "f32[1, 1, 3, 3]", "auto_pad = \"SOMEHOW\""),
              HasSubstr("\"auto_pad\" is \"SOMEHOW\""));
}

TEST(ConvolutionTypeTest, SameLowerPadsTheBeginning) {
  const OperatorRegistry registry = StandardOperators();
  for (const bool upper : {true, false}) {
    const Graph graph =
        *ParseGraph(absl::StrCat("graph \"t\" (%x: f32[1, 1, 6], %w: f32[1, 1, 4]) -> () {"
                                 " %y = Conv(%x, %w) {auto_pad = \"SAME_",
                                 upper ? "UPPER" : "LOWER", "\"} }"));
    const auto view = NodeView::Create(graph, graph.nodes[0], registry);
    const auto conv = DecodeConv(*view);
    EXPECT_EQ(conv->window.pads_begin[0], upper ? 1 : 2);
    EXPECT_EQ(conv->window.pads_end[0], upper ? 2 : 1);
    EXPECT_EQ(conv->window.output[0], 6);
  }
}

TEST(ConvolutionTypeTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(Conv("f32[1, 3, 4, 4]", "f32[2, 2, 1, 1]"), HasSubstr("these do not fit"));
  EXPECT_THAT(Conv("f32[1, 4, 4, 4]", "f32[3, 2, 1, 1]", "group = 2"), HasSubstr("do not fit"));
  EXPECT_THAT(Conv("f32[1, 4, 4, 4]", "f32[3, 2, 1, 1]", "group = 0"), HasSubstr("do not fit"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 5, 5]"), HasSubstr("does not fit into spatial"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 3]"), HasSubstr("where rank 4 is needed"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f64[1, 1, 3, 3]"), HasSubstr("input 1 is of type f64"));
  EXPECT_THAT(Conv("i32[1, 1, 4, 4]", "i32[1, 1, 3, 3]"), HasSubstr("UNIMPLEMENTED"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 3, 3]", "kernel_shape = [2, 2]"),
              HasSubstr("\"kernel_shape\" is [2, 2] but w has [3, 3]"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 3, 3]", "strides = [0, 1]"),
              HasSubstr("\"strides\" holds 0"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 3, 3]", "pads = [1, 1]"),
              HasSubstr("\"pads\" has 2 entries, 4 are needed"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 3, 3]", "pads = [-1, 0, 0, 0]"),
              HasSubstr("\"pads\" holds -1"));
  EXPECT_THAT(Conv("f32[1, 1, 4, 4]", "f32[1, 1, 3, 3]", "dilations = [2147483647, 2147483647]"),
              HasSubstr("does not fit into spatial"));
  EXPECT_THAT(TypeOf("%x: f32[1, 1, 4, 4], %w: f32[2, 1, 1, 1], %b: f32[3]",
                     "%y = Conv \"c\" (%x, %w, %b)"),
              HasSubstr("node \"c\" (Conv): the bias has the shape [3] where [2] is needed"));
}

TEST(ConvolutionTypeTest, BlockedForms) {
  const auto blocked = [](const std::string& x, const std::string& w) {
    return TypeOf(absl::StrCat("%x: ", x, ", %w: ", w),
                  "%y = slipway.ConvNCHWc(%x, %w) {pads = [1, 1, 1, 1]}");
  };
  EXPECT_EQ(blocked("f32[1, 4, 8, 8, 16]", "f32[2, 4, 3, 3, 16, 8]"), "f32[1, 2, 8, 8, 8]");
  EXPECT_EQ(blocked("f32[1, 3, 8, 8]", "f32[4, 3, 3, 3, 16]"), "f32[1, 4, 8, 8, 16]");
  EXPECT_THAT(blocked("f32[1, 4, 8, 8, 16]", "f32[2, 4, 3, 3, 8, 8]"),
              HasSubstr("x has blocks of 16 channels, w of 8"));
  EXPECT_THAT(blocked("f32[1, 4, 8, 8, 16]", "f32[2, 3, 3, 3, 16, 8]"), HasSubstr("do not fit"));
  EXPECT_EQ(TypeOf("%x: f32[1, 2, 8, 8, 4], %w: f32[2, 3, 3, 4]",
                   "%y = slipway.DepthwiseConvNCHWc(%x, %w) {strides = [2, 2]}"),
            "f32[1, 2, 3, 3, 4]");
  const auto tiled = [](const std::string& x, const std::string& w) {
    return TypeOf(absl::StrCat("%x: ", x, ", %w: ", w),
                  "%y = slipway.WinogradConvNCHWc(%x, %w) {pads = [1, 1, 1, 0]}");
  };
  EXPECT_EQ(tiled("f32[2, 2, 8, 9, 4]", "f32[6, 6, 3, 2, 4, 16]"), "f32[2, 3, 8, 8, 16]");
  EXPECT_THAT(tiled("f32[2, 2, 8, 9, 4]", "f32[6, 6, 3, 2, 8, 16]"), HasSubstr("does not fit x"));
  EXPECT_THAT(tiled("f32[2, 2, 8, 9, 4]", "f32[5, 5, 3, 2, 4, 16]"),
              HasSubstr("tiles of 5 x 5 inputs; there are 4 x 4, 6 x 6 and 8 x 8"));
  EXPECT_THAT(tiled("f64[2, 2, 8, 9, 4]", "f64[6, 6, 3, 2, 4, 16]"), HasSubstr("UNIMPLEMENTED"));
  EXPECT_EQ(tiled("f32[2, 2, 2, 9, 4]", "f32[6, 6, 3, 2, 4, 16]"), "f32[2, 3, 2, 8, 16]");
  EXPECT_EQ(TypeOf("%x: f32[1, 32, 8, 8]", "%y = slipway.Pack(%x) {block = 16}"),
            "f32[1, 2, 8, 8, 16]");
  EXPECT_EQ(TypeOf("%x: f32[1, 2, 8, 8, 16]", "%y = slipway.Unpack(%x)"), "f32[1, 32, 8, 8]");
  EXPECT_EQ(TypeOf("%x: f32[1, 30, 8, 8]", "%y = slipway.Pack(%x) {block = 16}"),
            "f32[1, 2, 8, 8, 16]");
  EXPECT_THAT(TypeOf("%x: f32[1, 30, 8, 8]", "%y = slipway.Pack(%x) {block = 0}"),
              HasSubstr("30 channels do not divide"));
}

TEST(ConvolutionTypeTest, OfSmallNumbers) {
  const auto blocked = [](const std::string& inputs, const std::string& attributes = "") {
    return TypeOf(inputs, absl::StrCat("%y = slipway.ConvNCHWc(%x, %w",
                                       inputs.find("%b") == std::string::npos ? "" : ", %b", ") {",
                                       attributes, "}"));
  };
  const std::string brains = "%x: bf16[1, 4, 8, 8, 16], %w: bf16[2, 4, 1, 1, 8, 8, 2]";
  EXPECT_EQ(blocked(brains), "f32[1, 2, 8, 8, 8]");
  EXPECT_EQ(blocked(brains + ", %b: f32[16]"), "f32[1, 2, 8, 8, 8]");
  EXPECT_THAT(blocked(brains + ", %b: bf16[16]"), HasSubstr("bf16"));
  EXPECT_THAT(blocked("%x: bf16[1, 4, 8, 8, 16], %w: f32[2, 4, 1, 1, 8, 8, 2]"), HasSubstr("f32"));
  EXPECT_THAT(blocked("%x: bf16[1, 3, 8, 8], %w: bf16[2, 3, 1, 1, 8, 2]"),
              HasSubstr("has to be in blocks of channels"));
  const std::string bytes = "%x: u8[1, 4, 8, 8, 16], %w: i8[2, 4, 1, 1, 4, 8, 4]";
  EXPECT_EQ(blocked(bytes), "i32[1, 2, 8, 8, 8]");
  EXPECT_EQ(blocked(bytes + ", %b: i32[16]", "zero = 255"), "i32[1, 2, 8, 8, 8]");
  EXPECT_THAT(blocked(bytes, "zero = 256"), HasSubstr("\"zero\" is 256, which u8 does not hold"));
  EXPECT_THAT(blocked(bytes + ", %b: f32[16]"), HasSubstr("f32"));
  EXPECT_THAT(blocked("%x: u8[1, 4, 8, 8, 16], %w: i8[2, 4, 1, 1, 8, 8, 2]"),
              HasSubstr("2 numbers innermost where 4 are needed"));
  EXPECT_THAT(blocked("%x: i8[1, 4, 8, 8, 16], %w: i8[2, 4, 1, 1, 4, 8, 4]"), HasSubstr("i8"));
  const auto depthwise = [](const std::string& inputs) {
    return TypeOf(inputs, "%y = slipway.DepthwiseConvNCHWc(%x, %w)");
  };
  EXPECT_EQ(depthwise("%x: bf16[1, 2, 8, 8, 16], %w: f32[2, 3, 3, 16]"), "f32[1, 2, 6, 6, 16]");
  EXPECT_THAT(depthwise("%x: bf16[1, 2, 8, 8, 16], %w: bf16[2, 3, 3, 16]"), HasSubstr("bf16"));
}

TEST(PoolingTypeTest, FollowsTheFormula) {
  const auto pool = [](const std::string& op, const std::string& attributes) {
    return TypeOf("%x: f32[1, 2, 32, 33]", absl::StrCat("%y = ", op, "(%x) {", attributes, "}"));
  };
  EXPECT_EQ(pool("MaxPool", "kernel_shape = [3, 3], strides = [2, 2]"), "f32[1, 2, 15, 16]");
  EXPECT_EQ(pool("MaxPool", "kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1"),
            "f32[1, 2, 16, 16]");
  EXPECT_EQ(pool("AveragePool", "kernel_shape = [2, 2], auto_pad = \"SAME_LOWER\""),
            "f32[1, 2, 32, 33]");
  EXPECT_THAT(pool("MaxPool", ""), HasSubstr("lacks the attribute \"kernel_shape\""));
  EXPECT_THAT(pool("MaxPool", "kernel_shape = [2]"), HasSubstr("the kernel has 1 dimensions"));
  EXPECT_THAT(pool("MaxPool", "kernel_shape = [2, 2], pads = [2, 0, 0, 0]"),
              HasSubstr("see no input"));
  EXPECT_EQ(TypeOf("%x: f32[1, 2, 4, 4]", "%y, %i = MaxPool(%x) {kernel_shape = [2, 2]}"),
            "f32[1, 2, 3, 3]; i64[1, 2, 3, 3]");
  EXPECT_EQ(TypeOf("%x: f32[1, 2, 4, 4]", "%y = GlobalAveragePool(%x)"), "f32[1, 2, 1, 1]");
  EXPECT_THAT(TypeOf("%x: f32[1, 2, 0, 4]", "%y = GlobalMaxPool(%x)"), HasSubstr("empty"));
  // A window that would begin behind the input is left out.
  EXPECT_EQ(TypeOf("%x: f32[1, 1, 4]",
                   "%y = MaxPool(%x) {kernel_shape = [1], strides = [4], ceil_mode = 1}"),
            "f32[1, 1, 1]");
}

}  // namespace
}  // namespace slipway
