#include "core/passes/recognize_gelu_pass.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

absl::StatusOr<Graph> Recognize(Graph graph, const PassContext& context) {
  absl::StatusOr<Graph> recognized = RecognizeGelu(std::move(graph), context);
  return recognized.ok() ? DeadCode(*std::move(recognized), context) : recognized;
}

// A graph from %x to %y of these nodes, with numbers that they may read.
std::string Of(const std::string& nodes) {
  return absl::StrCat(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      const %half: f32[] = {0.5}
      const %one: f32[1] = {1.0}
      const %two: f32[] = {2.0}
      const %three: f32[] = {3.0}
      const %root: f32[] = {1.4142135}
      const %inverse: f32[] = {0.70710677}
      const %cubic: f32[] = {0.044715}
      const %slope: f32[] = {0.7978846}
)",
                      nodes, "    }");
}

constexpr char kGelu[] = R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %y = Gelu "g" (%x)
    })";
constexpr char kTanhGelu[] = R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %y = Gelu "g" (%x) {approximate = "tanh"}
    })";

TEST(RecognizeGelu, FindsTheErrorFunctionHoweverItIsWritten) {
  const PassTester tester;
  EXPECT_OK(tester.Check(Recognize, Of(R"(
      %t = Div(%x, %root)
      %e = Erf(%t)
      %s = Add(%e, %one)
      %p = Mul(%x, %s)
      %y = Mul "g" (%p, %half)
)"),
                         kGelu));
  EXPECT_OK(tester.Check(Recognize, Of(R"(
      %h = Mul(%half, %x)
      %t = Mul(%inverse, %x)
      %e = Erf(%t)
      %s = Add(%one, %e)
      %y = Mul "g" (%h, %s)
)"),
                         kGelu));
  EXPECT_OK(tester.Check(Recognize, Of(R"(
      %t = Mul(%x, %inverse)
      %e = Erf(%t)
      %c = Mul(%e, %half)
      %s = Add(%c, %half)
      %y = Mul "g" (%s, %x)
)"),
                         kGelu));
  EXPECT_OK(tester.Check(Recognize, Of(R"(
      %t = Div(%x, %root)
      %e = Erf(%t)
      %s = Add(%e, %one)
      %p = Mul(%s, %x)
      %y = Div "g" (%p, %two)
)"),
                         kGelu));
}

TEST(RecognizeGelu, FindsTheApproximationByTanh) {
  const PassTester tester;
  EXPECT_OK(tester.Check(Recognize, Of(R"(
      %h = Mul(%x, %half)
      %c = Pow(%x, %three)
      %a = Mul(%c, %cubic)
      %b = Add(%x, %a)
      %t = Mul(%b, %slope)
      %f = Tanh(%t)
      %s = Add(%f, %one)
      %y = Mul "g" (%h, %s)
)"),
                         kTanhGelu));
  EXPECT_OK(tester.Check(Recognize, Of(R"(
      %q = Mul(%x, %x)
      %a = Mul(%cubic, %q)
      %b = Add(%a, %one)
      %k = Mul(%x, %slope)
      %t = Mul(%k, %b)
      %f = Tanh(%t)
      %s = Add(%one, %f)
      %p = Mul(%x, %s)
      %y = Mul "g" (%half, %p)
)"),
                         kTanhGelu));
}

// The factor in front is a product itself, and so is what it is a product of.
TEST(RecognizeGelu, FindsItOfAProduct) {
  const PassTester tester;
  EXPECT_OK(tester.Check(Recognize, R"(
    graph "g" (%a: f32[2], %b: f32[2]) -> (%y) {
      const %half: f32[] = {0.5}
      const %inverse: f32[] = {0.70710677}
      const %one: f32[] = {1.0}
      %x = Mul "m" (%a, %b)
      %t = Mul(%x, %inverse)
      %e = Erf(%t)
      %s = Add(%e, %one)
      %h = Mul(%x, %half)
      %y = Mul "g" (%h, %s)
    })",
                         R"(
    graph "g" (%a: f32[2], %b: f32[2]) -> (%y) {
      %x = Mul "m" (%a, %b)
      %y = Gelu "g" (%x)
    })"));
}

TEST(RecognizeGelu, LeavesWhatIsSomethingElse) {
  const PassTester tester;
  const auto stays = [&tester](const std::string& nodes) {
    const std::string graph = Of(nodes);
    return tester.Check(RecognizeGelu, graph, graph);
  };
  // Twice of it; one less than it; the slope that is missing; the cube of something else; the square of x.
  EXPECT_OK(stays(R"(
      %t = Div "t" (%x, %root)
      %e = Erf "e" (%t)
      %s = Add "s" (%e, %one)
      %y = Mul "g" (%x, %s)
)"));
  EXPECT_OK(stays(R"(
      %t = Div "t" (%x, %root)
      %e = Erf "e" (%t)
      %s = Add "s" (%e, %two)
      %p = Mul "p" (%x, %s)
      %y = Mul "g" (%p, %half)
)"));
  EXPECT_OK(stays(R"(
      %e = Erf "e" (%x)
      %s = Add "s" (%e, %one)
      %p = Mul "p" (%x, %s)
      %y = Mul "g" (%p, %half)
)"));
  EXPECT_OK(stays(R"(
      %t = Tanh "t" (%x)
      %c = Pow "c" (%t, %three)
      %a = Mul "a" (%c, %cubic)
      %b = Add "b" (%x, %a)
      %i = Mul "i" (%b, %slope)
      %f = Tanh "f" (%i)
      %s = Add "s" (%f, %one)
      %p = Mul "p" (%x, %s)
      %y = Mul "g" (%p, %half)
)"));
  EXPECT_OK(stays(R"(
      %t = Mul "t" (%x, %inverse)
      %e = Erf "e" (%t)
      %s = Add "s" (%e, %one)
      %p = Mul "p" (%x, %s)
      %q = Mul "q" (%x, %p)
      %y = Mul "g" (%q, %half)
)"));
}

}  // namespace
}  // namespace slipway
