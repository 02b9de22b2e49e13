#include "core/codegen/element_function.h"

#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::strict_float;
using Halide::Internal::Let;
using Halide::Internal::Variable;

constexpr ElementFunction kSquareAndMore = {"test_square_and_more",
                                            [](const Expr& x) { return x * x + 1.0f; }};
constexpr ElementFunction kHalf = {"test_half", [](const Expr& x) { return x * 0.5f; }};

Expr Input() { return Variable::make(Halide::Float(32), "x"); }
Expr Call(Expr x) { return CallElementFunction(kSquareAndMore, std::move(x)); }

std::string WrittenOut(const Expr& expression) {
  std::ostringstream text;
  text << WriteOutElementFunctions({kSquareAndMore, kHalf}).mutate(expression);
  return absl::StrReplaceAll(text.str(), {{"(float32)", ""}, {"(float32x8)", ""}});
}

TEST(ElementFunction, IsAVariableOutsideOfWhatIsStrict) {
  const std::string text = WrittenOut(strict_float(Input() + Call(Input())));
  EXPECT_EQ(text,
            "(let element0 = x in (let element1 = ((element0*element0) + 1.000000f) in "
            "strict_float(x + element1)))");
}

TEST(ElementFunction, IsWrittenOutInPlaceElsewhere) {
  EXPECT_EQ(WrittenOut(Input() + Call(Input())),
            "(x + (let element0 = x in ((element0*element0) + 1.000000f)))");
}

TEST(ElementFunction, ComesBehindThoseItIsOf) {
  const std::string text =
      WrittenOut(strict_float(-Call(CallElementFunction(kHalf, strict_float(Input() + 2.0f)))));
  EXPECT_EQ(text,
            "(let element0 = strict_float(x + 2.000000f) in "
            "(let element1 = (element0*0.500000f) in (let element2 = element1 in "
            "(let element3 = ((element2*element2) + 1.000000f) in "
            "strict_float(0.000000f - element3)))))");
}

TEST(ElementFunction, StaysWhereItsArgumentIsBound) {
  const Expr y = Variable::make(Halide::Float(32), "y");
  const std::string text = WrittenOut(strict_float(Let::make("y", Input() * 3.0f, Call(y))));
  EXPECT_EQ(text,
            "strict_float(let y = (x*3.000000f) in "
            "(let element0 = y in ((element0*element0) + 1.000000f)))");
}

TEST(ElementFunction, MayBeOfAVector) {
  const Expr x = Variable::make(Halide::Float(32, 8), "x");
  EXPECT_EQ(WrittenOut(Call(x)), "(let element0 = x in ((element0*element0) + x8(1.000000f)))");
}

TEST(ElementFunction, OthersAreLeftAlone) {
  const Expr other = Halide::Internal::Call::make(Halide::Float(32), "other", {Input()},
                                                  Halide::Internal::Call::PureExtern);
  EXPECT_TRUE(WriteOutElementFunctions({kHalf}).mutate(other).same_as(other));
}

}  // namespace
}  // namespace slipway
