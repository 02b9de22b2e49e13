#include "core/passes/tabulate_codes_pass.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kInstructions = 20;

std::string Tabulated(const std::string& text, int instructions = kInstructions) {
  const auto after = PassTester().After(
      [instructions](Graph graph, const PassContext& context) {
        return TabulateCodes(std::move(graph), context, instructions);
      },
      text, {0, 0});
  EXPECT_OK(after.status());
  return after.value_or("");
}

// A GELU whose every step is rounded to codes, as exporters write it.
constexpr char kGelu[] = R"(
    graph "g" (%x: u8[2, 3]) -> (%y) {
      const %s: f32[] = {0.05}
      const %z: u8[] = {100}
      const %root: f32[] = {1.4142135}
      const %one: f32[1] = {1}
      const %half: f32[1, 1] = {0.5}
      const %t: f32[] = {0.01}
      const %i: i8[] = {-3}
      %d = DequantizeLinear(%x, %s, %z)
      %a = Div(%d, %root)
      %b = Erf(%a)
      %bq = QuantizeLinear(%b, %t, %i)
      %bd = DequantizeLinear(%bq, %t, %i)
      %c = Add(%bd, %one)
      %e = Mul(%d, %c)
      %f = Mul(%e, %half)
      %y = QuantizeLinear(%f, %s, %z)
    })";

TEST(TabulateCodes, LooksUpWhatIsComputedOfACode) {
  const std::string after = Tabulated(kGelu);
  EXPECT_THAT(after, HasSubstr("%y = slipway.Lookup"));
  EXPECT_THAT(after, HasSubstr("(%x) {table = [100, "));
  EXPECT_THAT(after, Not(HasSubstr("Linear")));
  EXPECT_THAT(after, Not(HasSubstr("Erf")));
}

TEST(TabulateCodes, OfSignedCodesToOtherTypes) {
  const std::string after = Tabulated(R"(
    graph "g" (%x: i8[7]) -> (%y) {
      const %s: f32[] = {0.05}
      const %z: i16[] = {0}
      const %low: i16[] = {-100}
      const %high: i16[] = {155}
      %d = DequantizeLinear(%x, %s)
      %b = Sigmoid(%d)
      %t = Tanh(%b)
      %q = QuantizeLinear(%t, %s, %z)
      %y = Clip(%q, %low, %high)
    })");
  EXPECT_THAT(after, HasSubstr("%y = slipway.Lookup"));
  EXPECT_THAT(after, HasSubstr("to = 5}"));
  EXPECT_THAT(after, HasSubstr(": i16[7]"));
}

// From the first of several codes, where the last one's table would be one of many.
TEST(TabulateCodes, IsOneTableOfAChain) {
  const std::string after = Tabulated(R"(
    graph "g" (%f: f32[5]) -> (%y) {
      const %s: f32[] = {0.05}
      const %z: u8[] = {3}
      %x = QuantizeLinear(%f, %s, %z)
      %d = DequantizeLinear(%x, %s, %z)
      %a = Sigmoid(%d)
      %aq = QuantizeLinear(%a, %s, %z)
      %ad = DequantizeLinear(%aq, %s, %z)
      %b = Tanh(%ad)
      %y = QuantizeLinear(%b, %s, %z)
    })");
  EXPECT_THAT(after, HasSubstr("%x = QuantizeLinear"));
  EXPECT_THAT(after, HasSubstr("%y = slipway.Lookup"));
  EXPECT_EQ(after.find("Lookup"), after.rfind("slipway.Lookup") + 8) << after;
}

TEST(TabulateCodes, LeavesWhatOthersReadAndWhatIsCheaper) {
  // What is between is an output, or comes from two tensors, or from one of floats.
  EXPECT_THAT(Tabulated(absl::StrReplaceAll(kGelu, {{"-> (%y)", "-> (%y, %e)"}})),
              Not(HasSubstr("Lookup")));
  EXPECT_THAT(
      Tabulated(absl::StrReplaceAll(kGelu, {{"(%x: u8[2, 3])", "(%x: u8[2, 3], %v: f32[2, 3])"},
                                            {"Mul(%e, %half)", "Mul(%e, %v)"}})),
      Not(HasSubstr("y = slipway.Lookup")));
  EXPECT_THAT(Tabulated(absl::StrReplaceAll(kGelu, {{"const %half: f32[1, 1] = {0.5}",
                                                     "const %half: f32[3] = {0.5, 1, 2}"}})),
              Not(HasSubstr("y = slipway.Lookup")));
  const char* cheap = R"(
    graph "g" (%x: u8[5]) -> (%y) {
      const %s: f32[] = {0.05}
      const %t: f32[] = {0.5}
      %d = DequantizeLinear(%x, %s)
      %y = QuantizeLinear(%d, %t)
    })";
  EXPECT_THAT(Tabulated(cheap), Not(HasSubstr("Lookup")));
  EXPECT_THAT(Tabulated(cheap, 8), HasSubstr("Lookup"));
}

}  // namespace
}  // namespace slipway
