#include "core/passes/pad_channels_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "core/graph/text.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<int64_t>& Blocks() {
  static const auto& blocks = *new std::vector<int64_t>{16, 8, 4};
  return blocks;
}

constexpr char kPointwise[] =
    "dilations = [1, 1], kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]";
constexpr char kThree[] =
    "dilations = [1, 1], kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]";

// Other numbers everywhere, so that none may be in another's place.
void VaryConstants(Graph& graph) {
  float next = 0.5f;
  for (Value& value : graph.values) {
    if (!value.constant.has_value() || value.constant->dtype() != DataType::kFloat32) continue;
    Tensor varied = Tensor::Zeros(DataType::kFloat32, value.constant->shape());
    for (float& element : varied.mutable_values<float>()) {
      next = next > 1 ? next - 1.93f : next + 0.37f;
      element = next;
    }
    value.constant = std::move(varied);
  }
}

// The graph's text after the pass, which has to compute the same as before.
std::string After(const std::string& text) {
  const PassTester tester;
  absl::StatusOr<Graph> before = tester.Parse(text);
  EXPECT_OK(before);
  if (!before.ok()) return "";
  VaryConstants(*before);
  const absl::StatusOr<Graph> after = PadChannels(*before, tester.context(), Blocks(), 16);
  EXPECT_OK(after);
  if (!after.ok()) return "";
  EXPECT_OK(tester.CheckSameResults(*before, *after, 3));
  return Print(*after);
}

// A layer as MobileNets have it: more channels, one by one, scaled by what their means say, fewer channels, a residual.
std::string Layer(int64_t channels, int64_t narrow) {
  return absl::Substitute(R"(
    graph "g" (%x: f32[1, 16, 6, 6]) -> (%y) {
      const %w0: f32[$1, 16, 1, 1] = splat 0.10
      const %w1: f32[$0, $1, 1, 1] = splat 0.17
      const %b1: f32[$0] = splat 0.24
      const %w2: f32[$0, 1, 3, 3] = splat 0.31
      const %b2: f32[$0] = splat 0.38
      const %scale: f32[$0, 1, 1] = splat 0.45
      const %axes: i64[2] = {2, 3}
      const %w3: f32[$0, $0, 1, 1] = splat 0.52
      const %w4: f32[$1, $0, 1, 1] = splat 0.59
      const %b4: f32[$1] = splat 0.66
      const %w5: f32[16, $1, 1, 1] = splat 0.73
      %a = Conv(%x, %w0) {$2}
      %b = Conv(%a, %w1, %b1) {$2}
      %c = Relu(%b)
      %d = Conv(%c, %w2, %b2) {group = $0, $3}
      %e = HardSwish(%d)
      %f = Mul(%e, %scale)
      %m = ReduceMean(%f, %axes) {keepdims = 1}
      %n = Conv(%m, %w3) {$2}
      %s = Sigmoid(%n)
      %h = Mul(%f, %s)
      %i = Conv(%h, %w4, %b4) {$2}
      %j = Add(%i, %a)
      %y = Conv(%j, %w5) {$2}
    })",
                          channels, narrow, kPointwise, kThree);
}

TEST(PadChannels, LayersGetChannelsThatVectorsDivide) {
  EXPECT_THAT(
      After(Layer(72, 40)),
      AllOf(HasSubstr("f32[1, 80, 6, 6]"), HasSubstr("f32[1, 48, 6, 6]"), HasSubstr("group = 80"),
            Not(HasSubstr("f32[1, 72")), Not(HasSubstr("f32[1, 40"))));
  // Channels that no block divides, too.
  EXPECT_THAT(After(Layer(58, 22)), AllOf(HasSubstr("f32[1, 64, 6, 6]"), HasSubstr("group = 64"),
                                          HasSubstr("f32[1, 32, 6, 6]")));
}

TEST(PadChannels, NotWhereVectorsAreFullOrMostWouldBeInVain) {
  for (const std::string& text : {Layer(64, 32), Layer(96, 8), Layer(48, 16)}) {
    EXPECT_THAT(After(text), Not(HasSubstr("_padded")));
  }
}

// Whoever sees channels in another way, or makes something else of 0 than a number, keeps them as they are.
TEST(PadChannels, NotWhereOthersSeeTheChannels) {
  for (const char* between :
       {"%b = Softmax(%a) {axis = 1}", "%b = Log(%a)", "%b = Div(%a, %a)",
        "%b = Slice(%a, %zero, %ten, %one)", "%b = Concat(%a, %x) {axis = 1}",
        "%b = Conv(%a, %weights) {dilations = [1, 1], kernel_shape = [1, 1], pads = [0, 0, 0, 0], "
        "strides = [1, 1]}",
        "%b = Conv(%a, %grouped) {group = 2, dilations = [1, 1], kernel_shape = [1, 1], pads = [0, "
        "0, 0, 0], strides = [1, 1]}",
        "%b = Reshape(%a, %shape)"}) {
    const std::string out = After(absl::Substitute(R"(
    graph "g" (%x: f32[1, 16, 6, 6], %weights: f32[24, 24, 1, 1]) -> (%b) {
      const %w: f32[24, 16, 1, 1] = splat 0.10
      const %grouped: f32[24, 12, 1, 1] = splat 0.17
      const %zero: i64[1] = {0}
      const %ten: i64[1] = {10}
      const %one: i64[1] = {1}
      const %shape: i64[2] = {24, 36}
      %a = Conv(%x, %w) {$0}
      $1
    })",
                                                   kPointwise, between));
    EXPECT_THAT(out, Not(HasSubstr("_padded"))) << between;
  }
}

// An output of the graph has its own channels, and so has what it is added to.
TEST(PadChannels, OutputsAreAsTheyWere) {
  EXPECT_THAT(After(absl::Substitute(R"(
    graph "g" (%x: f32[1, 16, 6, 6]) -> (%y, %c) {
      const %w: f32[24, 16, 1, 1] = splat 0.10
      const %v: f32[24, 24, 3, 3] = splat 0.17
      %a = Conv(%x, %w) {$0}
      %b = Conv(%a, %v) {$1}
      %c = Add(%a, %b)
      %d = Relu(%c)
      %y = Conv(%d, %v) {$1}
    })",
                                     kPointwise, kThree)),
              Not(HasSubstr("_padded")));
}

// As exporters write HardSwish.
TEST(PadChannels, ANumberMayDivideAndNothingElse) {
  for (const char* divisor : {"%six", "%b", "%each"}) {
    const std::string out = After(absl::Substitute(R"(
    graph "g" (%x: f32[1, 16, 6, 6]) -> (%y) {
      const %w: f32[40, 16, 1, 1] = splat 0.5
      const %v: f32[16, 40, 1, 1] = splat 0.25
      const %six: f32[] = {6}
      const %each: f32[40, 1, 1] = splat 3
      %a = Conv(%x, %w) {$0}
      %b = Mul(%a, %a)
      %c = Div(%b, $1)
      %y = Conv(%c, %v) {$0}
    })",
                                                   kPointwise, divisor));
    EXPECT_EQ(out.find("f32[1, 48, 6, 6]") != std::string::npos, divisor == std::string("%six"))
        << divisor;
  }
}

// One channel that is broadcast over others stays one.
TEST(PadChannels, WhatIsBroadcastStays) {
  EXPECT_THAT(After(absl::Substitute(R"(
    graph "g" (%x: f32[1, 16, 6, 6]) -> (%y) {
      const %w: f32[40, 16, 1, 1] = splat 0.10
      const %one: f32[1, 16, 1, 1] = splat 0.17
      const %v: f32[16, 40, 1, 1] = splat 0.24
      const %row: f32[6] = splat 0.31
      %a = Conv(%x, %w) {$0}
      %mask = Conv(%x, %one) {$0}
      %b = Mul(%a, %mask)
      %c = Add(%b, %row)
      %y = Conv(%c, %v) {$0}
    })",
                                     kPointwise)),
              AllOf(HasSubstr("f32[1, 48, 6, 6]"), HasSubstr("f32[1, 1, 6, 6]")));
}

}  // namespace
}  // namespace slipway
