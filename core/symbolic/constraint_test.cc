#include "core/symbolic/constraint.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

Expression Parsed(const char* text) { return ParseExpression(text).value(); }

Constraint Broadcast() {
  return {{{Parsed("n"), Parsed("m")}, {Parsed("min(n, m)"), Parsed("1")}}, "Add sum"};
}

TEST(ConstraintTest, HoldsWhereOneEqualityDoes) {
  EXPECT_OK(CheckHolds(Broadcast(), {{"n", 3}, {"m", 3}}));
  EXPECT_OK(CheckHolds(Broadcast(), {{"n", 3}, {"m", 1}}));
  EXPECT_OK(CheckHolds(Broadcast(), {{"n", 0}, {"m", 0}}));
  EXPECT_THAT(CheckHolds(Broadcast(), {{"n", 3}, {"m", 5}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "Add sum needs n = m or min(m, n) = 1, but these are 3 and 5, 3 and 1"));
  EXPECT_THAT(CheckHolds(Broadcast(), {{"n", 3}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no symbol \"m\"")));
}

TEST(ConstraintTest, IsCheckedAgainstTheSymbols) {
  const std::vector<Symbol> symbols = {{"n"}, {"m"}};
  EXPECT_OK(CheckConstraints({Broadcast()}, symbols));
  EXPECT_THAT(CheckConstraints({Broadcast()}, {symbols[0]}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no symbol \"m\"")));
  EXPECT_THAT(CheckConstraints({Constraint()}, symbols),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 0 equalities")));
  const std::vector<Constraint> many(kMaxConstraints + 1, Broadcast());
  EXPECT_THAT(CheckConstraints(many, symbols),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("the limit is 4096")));
}

}  // namespace
}  // namespace slipway
