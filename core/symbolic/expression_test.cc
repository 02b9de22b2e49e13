#include "core/symbolic/expression.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// The canonical text of an expression, or the error.
std::string Canonical(absl::string_view text) {
  const auto parsed = ParseExpression(text);
  return parsed.ok() ? ToString(*parsed) : std::string(parsed.status().message());
}

Expression Parsed(absl::string_view text) {
  const auto parsed = ParseExpression(text);
  EXPECT_OK(parsed.status()) << text;
  return parsed.ok() ? *parsed : Expression(-1);
}

TEST(ExpressionTest, SumsAndProductsHaveOneForm) {
  EXPECT_EQ(Canonical("3 + 4"), "7");
  EXPECT_EQ(Canonical("w + 0"), "w");
  EXPECT_EQ(Canonical("1 * w"), "w");
  EXPECT_EQ(Canonical("0 * w"), "0");
  EXPECT_EQ(Canonical("3 + w"), "w + 3");
  EXPECT_EQ(Canonical("w + h - w"), "h");
  EXPECT_EQ(Canonical("w + w*3 - 2"), "4*w - 2");
  EXPECT_EQ(Canonical("w*batch*2"), "2*batch*w");
  EXPECT_EQ(Canonical("(a + b)*(a - b)"), "a*a - b*b");
  EXPECT_EQ(Canonical("-(w - 3)"), "-w + 3");
  EXPECT_EQ(Canonical("2*(w + 1) - 2"), "2*w");
  EXPECT_EQ(Canonical("--w"), "w");
}

TEST(ExpressionTest, DivisionsByConstantsHaveOneForm) {
  EXPECT_EQ(Canonical("floordiv(-7, 2)"), "-4");
  EXPECT_EQ(Canonical("ceildiv(-7, 2)"), "-3");
  EXPECT_EQ(Canonical("floordiv(7, -2)"), "-4");
  EXPECT_EQ(Canonical("floordiv(w, 1)"), "w");
  EXPECT_EQ(Canonical("floordiv(4*w + 6, 2)"), "2*w + 3");
  EXPECT_EQ(Canonical("floordiv(batch + 3, 2)"), "floordiv(batch + 1, 2) + 1");
  EXPECT_EQ(Canonical("floordiv(w - 1, 2) + 1"), "floordiv(w + 1, 2)");
  EXPECT_EQ(Canonical("ceildiv(w, 2)"), "floordiv(w + 1, 2)");
  EXPECT_EQ(Canonical("floordiv(5*w, 3)"), "w + floordiv(2*w, 3)");
  EXPECT_EQ(Canonical("floordiv(4*w + 3, 6)"), "floordiv(2*w + 1, 3)");
  EXPECT_EQ(Canonical("floordiv(4*w + 1, 6)"), "floordiv(2*w, 3)");
  EXPECT_EQ(Canonical("floordiv(2*w + 1, 2)"), "w");
  // Five layers of stride 2, as in a ResNet.
  EXPECT_EQ(Canonical("ceildiv(ceildiv(ceildiv(ceildiv(ceildiv(w, 2), 2), 2), 2), 2)"),
            "floordiv(w + 31, 32)");
  EXPECT_EQ(Canonical("floordiv(w, h) + ceildiv(w, h)"), "floordiv(w, h) + ceildiv(w, h)");
}

TEST(ExpressionTest, MinimaAndMaximaKeepWhatMayDecide) {
  EXPECT_EQ(Canonical("min(3, 4)"), "3");
  EXPECT_EQ(Canonical("max(w, w)"), "w");
  EXPECT_EQ(Canonical("max(w, w + 1, 3, 2)"), "max(w + 1, 3)");
  EXPECT_EQ(Canonical("min(w + 1, w)"), "w");
  EXPECT_EQ(Canonical("min(b, min(a, 3))"), "min(a, b, 3)");
  EXPECT_EQ(Canonical("max(min(a, b), 1)"), "max(min(a, b), 1)");
}

TEST(ExpressionTest, EqualIsWhatHasEqualForm) {
  EXPECT_EQ(Parsed("(h + 1)*(w + 1)"), Parsed("h*w + w + h + 1"));
  EXPECT_EQ(Parsed("min(a, b)"), Parsed("min(b, a)"));
  EXPECT_NE(Parsed("min(a, b)"), Parsed("max(a, b)"));
  EXPECT_NE(Parsed("w"), Parsed("h"));
  EXPECT_NE(Parsed("w"), Parsed("w + 1"));
  EXPECT_NE(Parsed("w*w"), Parsed("w"));
}

TEST(ExpressionTest, WhatIsPrintedParsesAgain) {
  for (const char* text :
       {"0", "-9223372036854775808", "w - 9223372036854775807", "w + -9223372036854775808",
        "-9223372036854775808*w", "-w", "-w*h - 3", "a.b_1 + _c", "floordiv(-h*w + 1, h + 2)",
        "max(2*w - 3*h, -1)*ceildiv(h, w)"}) {
    const Expression expression = Parsed(text);
    EXPECT_EQ(Parsed(ToString(expression)), expression) << ToString(expression);
  }
  EXPECT_EQ(Canonical("w + -9223372036854775808"), "w + -9223372036854775808");
}

TEST(ExpressionTest, ExactQuotients) {
  const auto quotient = [](absl::string_view a, absl::string_view b) {
    const auto found = ExactQuotient(Parsed(a), Parsed(b));
    return found.has_value() ? ToString(*found) : "none";
  };
  EXPECT_EQ(quotient("6*h*w", "2*w"), "3*h");
  EXPECT_EQ(quotient("h*w + h + 2*w + 2", "w + 1"), "h + 2");
  EXPECT_EQ(quotient("0", "w"), "0");
  EXPECT_EQ(quotient("w", "0"), "none");
  EXPECT_EQ(quotient("3*w", "2"), "none");
  EXPECT_EQ(quotient("w", "h"), "none");
  EXPECT_EQ(quotient("h*w + 1", "w"), "none");
  EXPECT_EQ(quotient("h*w", "h*h"), "none");
  EXPECT_EQ(quotient("-9223372036854775808", "-1"), "none");
  EXPECT_EQ(quotient("5*floordiv(w, 2)*h", "floordiv(w, 2)"), "5*h");
}

TEST(ExpressionTest, ErrorsOfConstructorsNameTheirOperands) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto sum = Expression::Add(most, 1);
  EXPECT_EQ(sum.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(sum.status().message(), HasSubstr("\"9223372036854775807\" plus \"1\""));
  EXPECT_EQ(Expression::Multiply(most, 2).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Expression::Subtract(-2, most).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Expression::Multiply(Parsed("3037000500*w"), 3037000500).status().code(),
            absl::StatusCode::kOutOfRange);
  const auto division = Expression::FloorDivide(Parsed("w + 1"), 0);
  EXPECT_EQ(division.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(division.status().message(), HasSubstr("\"w + 1\" is divided by 0"));
  EXPECT_EQ(Expression::CeilDivide(1, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Expression::FloorDivide(std::numeric_limits<int64_t>::min(), -1).status().code(),
            absl::StatusCode::kOutOfRange);
  // Where joining two divisors overflows they stay apart.
  EXPECT_EQ(Canonical("floordiv(floordiv(w, 9000000000000000000), 9000000000000000000)"),
            "floordiv(floordiv(w, 9000000000000000000), 9000000000000000000)");
}

TEST(ExpressionTest, SizesAreBounded) {
  // (a1 + ... + an)^2 has n * (n + 1) / 2 terms.
  std::string sum = "a0";
  for (int i = 1; i < 15; ++i) absl::StrAppend(&sum, " + a", i);
  EXPECT_OK(ParseExpression(sum).status());
  const auto square = ParseExpression(absl::StrCat("(", sum, ")*(", sum, ")"));
  EXPECT_EQ(square.status().code(), absl::StatusCode::kResourceExhausted);
  const auto power = ParseExpression(absl::StrCat("(", sum, ")*(", sum, ")*(", sum, ")"));
  EXPECT_EQ(power.status().code(), absl::StatusCode::kResourceExhausted);

  std::string nested = "w";
  for (int i = 0; i < 300; ++i) nested = absl::StrCat("floordiv(", nested, ", h)");
  const auto deep = ParseExpression(nested);
  EXPECT_EQ(deep.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(deep.status().message(), HasSubstr("nested deeper than the limit of 256"));
  EXPECT_EQ(ParseExpression(std::string(30000, '-') + "w").status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ParseExpression(std::string(30000, '(') + "w").status().code(),
            absl::StatusCode::kResourceExhausted);

  Expression tower = Parsed("w");
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    const auto taller = Expression::FloorDivide(tower, Parsed("h"));
    status = taller.status();
    if (taller.ok()) tower = *taller;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LE(tower.size(), kMaxExpressionSize);

  std::string long_sum = "w";
  while (long_sum.size() <= kMaxExpressionTextBytes) long_sum += " + w";
  EXPECT_EQ(ParseExpression(long_sum).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ExpressionTest, ErrorsOfTheTextNameThePlace) {
  EXPECT_EQ(Canonical("w +"),
            "expression \"w +\": expected a number, a symbol or a function at character 4");
  EXPECT_THAT(Canonical(""), HasSubstr("expected a number"));
  EXPECT_THAT(Canonical("w w"), HasSubstr("expected the end at character 3"));
  EXPECT_THAT(Canonical("(w"), HasSubstr("expected ')'"));
  EXPECT_THAT(Canonical("min(w)"), HasSubstr("expected ','"));
  EXPECT_THAT(Canonical("floordiv(w, 2, 3)"), HasSubstr("expected ')'"));
  EXPECT_THAT(Canonical("w / 2"), HasSubstr("expected the end"));
  EXPECT_THAT(Canonical("min"), HasSubstr("expected '('"));
  EXPECT_THAT(Canonical("9223372036854775808"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(Canonical("9223372036854775807 + 1"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(Canonical("floordiv(w, 3 - 3)"), HasSubstr("\"w\" is divided by 0"));
  EXPECT_THAT(Canonical("w\xff"), HasSubstr("expected the end"));
}

TEST(ExpressionTest, SymbolsAreNames) {
  EXPECT_OK(Expression::Symbol("batch_1.x").status());
  for (const std::string& name : {std::string(), std::string("1a"), std::string("min"),
                                  std::string("a b"), std::string(65, 'a')}) {
    EXPECT_EQ(Expression::Symbol(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace slipway
