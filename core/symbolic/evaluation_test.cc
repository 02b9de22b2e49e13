#include "core/symbolic/evaluation.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

Expression Parsed(absl::string_view text) {
  const auto parsed = ParseExpression(text);
  EXPECT_OK(parsed.status()) << text;
  return parsed.ok() ? *parsed : Expression(-1);
}

TEST(EvaluationTest, ValuesAndTheirErrors) {
  const SymbolValues values = {{"h", 7}, {"w", 5}, {"zero", 0}, {"big", int64_t{1} << 40}};
  EXPECT_EQ(*Evaluate(Parsed("2*h*w - 3"), values), 67);
  EXPECT_EQ(*Evaluate(Parsed("floordiv(w - h, 2*zero + h)"), values), -1);
  EXPECT_EQ(*Evaluate(Parsed("ceildiv(h, w) + min(h, w, 6) + max(h, w)"), values), 14);

  const auto unknown = Evaluate(Parsed("h + depth"), values);
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.status().message(), HasSubstr("there is no symbol \"depth\""));
  const auto division = Evaluate(Parsed("1 + floordiv(h, zero)"), values);
  EXPECT_EQ(division.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(division.status().message(),
            "expression \"floordiv(h, zero) + 1\": \"floordiv(h, zero)\" divides by 0");
  const auto overflow = Evaluate(Parsed("big*big + 1"), values);
  EXPECT_EQ(overflow.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(overflow.status().message(), HasSubstr("\"big*big\" does not fit in 64 bits"));
}

TEST(EvaluationTest, SymbolsAreChecked) {
  EXPECT_OK(CheckSymbols({{"a", 1, 64}, {"b", 0, 0}, {"c"}}));
  EXPECT_THAT(CheckSymbols({{"a", 1, 2}, {"a", 1, 2}}).message(),
              HasSubstr("symbol \"a\" is there twice"));
  EXPECT_THAT(CheckSymbols({{"a", 3, 2}}).message(), HasSubstr("symbol \"a\" lies in 3..2"));
  EXPECT_THAT(CheckSymbols({{"a", -1, 2}}).message(), HasSubstr("lies in -1..2"));
  EXPECT_THAT(CheckSymbols({{"a", 1, int64_t{1} << 31}}).message(), HasSubstr("2147483647"));
  EXPECT_THAT(CheckSymbols({{"a b", 1, 2}}).message(), HasSubstr("cannot be the name of a symbol"));
  const std::vector<Symbol> many(kMaxSymbols + 1, Symbol{"a", 1, 2});
  EXPECT_EQ(CheckSymbols(many).code(), absl::StatusCode::kResourceExhausted);

  EXPECT_OK(CheckSymbolsKnown(Parsed("a + floordiv(b, a)"), {{"a"}, {"b"}}));
  EXPECT_THAT(CheckSymbolsKnown(Parsed("a + floordiv(b, a)"), {{"a"}}).message(),
              HasSubstr("there is no symbol \"b\""));
}

TEST(EvaluationTest, BoundsHoldAllValues) {
  const std::vector<Symbol> symbols = {{"b", 1, 64}, {"w", 0, 100}, {"x", 0, kMaxSymbolValue}};
  const auto bounds = [&symbols](absl::string_view text) {
    const auto found = BoundsOf(Parsed(text), symbols);
    return found.ok() ? absl::StrCat(found->min, "..", found->max)
                      : std::string(found.status().message());
  };
  EXPECT_EQ(bounds("5"), "5..5");
  EXPECT_EQ(bounds("b"), "1..64");
  EXPECT_EQ(bounds("3 - 2*b"), "-125..1");
  EXPECT_EQ(bounds("(w - 3)*2*b"), "-384..12794");  // 2*b*w - 6*b
  EXPECT_EQ(bounds("floordiv(w - 1, 2) + 1"), "0..50");
  EXPECT_EQ(bounds("ceildiv(w, b)"), "0..100");
  EXPECT_EQ(bounds("floordiv(-w, b)"), "-100..0");
  EXPECT_EQ(bounds("min(w, b)"), "0..64");
  EXPECT_EQ(bounds("max(w, b)"), "1..100");
  EXPECT_THAT(bounds("floordiv(b, w)"), HasSubstr("divides by 0"));
  EXPECT_THAT(bounds("floordiv(b, w - 3)"), HasSubstr("divides by 0"));
  EXPECT_EQ(bounds("x*x*x"), "0..9223372036854775807");
  EXPECT_EQ(bounds("0 - x*x*x - x*x*x"), "-9223372036854775808..0");
  EXPECT_THAT(bounds("b + y"), HasSubstr("there is no symbol \"y\""));
}

TEST(EvaluationTest, SubstitutionReplacesAndSimplifies) {
  const Expression expression = Parsed("floordiv(h + w, 2) + min(h, 3)");
  const auto replaced = Substitute(expression, {{"h", Parsed("2*n")}, {"w", Expression(6)}});
  ASSERT_OK(replaced.status());
  EXPECT_EQ(ToString(*replaced), "n + min(2*n, 3) + 3");
  const auto bound = Substitute(expression, {{"h", Expression(5)}, {"w", Expression(4)}});
  EXPECT_EQ(*bound, Expression(7));
  EXPECT_EQ(Substitute(Parsed("floordiv(w, h)"), {{"h", Expression(0)}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// A random expression beside what it is worth by arithmetic on 128 bits: the simplifications of the
// constructors must not change it.
class RandomExpression {
 public:
  RandomExpression(uint32_t seed, const SymbolValues& values) : random_(seed), values_(values) {}

  // The value is absent where a divisor is 0 or the numbers become large.
  std::pair<absl::StatusOr<Expression>, std::optional<int64_t>> Make(int depth) {
    if (depth == 0 || Draw(6) == 0) {
      if (Draw(2) == 0) {
        const int64_t value = Draw(21) - 10;
        return {Expression(value), value};
      }
      const auto symbol = std::next(values_.begin(), Draw(static_cast<int>(values_.size())));
      return {Expression::Symbol(symbol->first), symbol->second};
    }
    const auto [a, x] = Make(depth - 1);
    const auto [b, y] = Make(depth - 1);
    if (!a.ok()) return {a.status(), std::nullopt};
    if (!b.ok()) return {b.status(), std::nullopt};
    const bool known = x.has_value() && y.has_value();
    const __int128 p = x.value_or(0);
    const __int128 q = y.value_or(0);
    switch (Draw(7)) {
      case 0:
        return {Expression::Add(*a, *b), Narrow(known, p + q)};
      case 1:
        return {Expression::Subtract(*a, *b), Narrow(known, p - q)};
      case 2:
        return {Expression::Multiply(*a, *b), Narrow(known, p * q)};
      case 3:
        return {Expression::FloorDivide(*a, *b), Narrow(known && q != 0, Floor(p, q))};
      case 4:
        return {Expression::CeilDivide(*a, *b), Narrow(known && q != 0, -Floor(-p, q))};
      case 5:
        return {Expression::Min(*a, *b), Narrow(known, p < q ? p : q)};
      default:
        return {Expression::Max(*a, *b), Narrow(known, p > q ? p : q)};
    }
  }

 private:
  int Draw(int count) { return static_cast<int>(random_() % count); }
  static __int128 Floor(__int128 p, __int128 q) {
    if (q == 0) return 0;
    __int128 quotient = p / q;
    while (quotient * q > p == (q > 0) && quotient * q != p) --quotient;
    return quotient;
  }
  static std::optional<int64_t> Narrow(bool known, __int128 value) {
    constexpr int64_t kLarge = int64_t{1} << 40;
    if (!known || value > kLarge || value < -kLarge) return std::nullopt;
    return static_cast<int64_t>(value);
  }

  std::mt19937 random_;
  const SymbolValues& values_;
};

TEST(EvaluationTest, SimplifyingKeepsValues) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    const SymbolValues values = {
        {"a", seed % 7}, {"b", seed % 5 + 1}, {"c", seed * 37 % 101}, {"d", 3}};
    const auto [expression, wanted] = RandomExpression(seed, values).Make(4);
    if (!expression.ok() || !wanted.has_value()) continue;
    const auto value = Evaluate(*expression, values);
    // A factor of 0 may hide a division by 0 in the plain text, never the reverse.
    ASSERT_OK(value.status()) << ToString(*expression) << " seed " << seed;
    ASSERT_EQ(*value, *wanted) << ToString(*expression) << " seed " << seed;
    ++compared;

    const auto again = ParseExpression(ToString(*expression));
    ASSERT_OK(again.status());
    ASSERT_EQ(*again, *expression) << ToString(*again) << " seed " << seed;
    const auto bounds =
        BoundsOf(*expression, {{"a", 0, 6}, {"b", 1, 5}, {"c", 0, 100}, {"d", 3, 3}});
    if (bounds.ok()) {
      ASSERT_LE(bounds->min, *value) << ToString(*expression) << " seed " << seed;
      ASSERT_GE(bounds->max, *value) << ToString(*expression) << " seed " << seed;
    }
    SymbolExpressions constants;
    for (const auto& [name, number] : values) constants.emplace(name, number);
    const auto bound = Substitute(*expression, constants);
    ASSERT_OK(bound.status()) << ToString(*expression) << " seed " << seed;
    ASSERT_EQ(*bound, Expression(*value)) << ToString(*expression) << " seed " << seed;
  }
  EXPECT_GT(compared, 10'000);
}

TEST(UniqueSymbolNameTest, IsASymbolNameOfItsOwnAfterAnything) {
  const std::vector<Symbol> symbols = {{"batch"}, {"batch.1"}, {"d_min"}};
  EXPECT_EQ(UniqueSymbolName("seq.len_2", symbols), "seq.len_2");
  EXPECT_EQ(UniqueSymbolName("batch", symbols), "batch.2");
  EXPECT_EQ(UniqueSymbolName("min", symbols), "d_min.1");
  for (const std::string& like :
       {std::string(), std::string("2*h / \xc3\xa9"), std::string(100, 'x')}) {
    EXPECT_TRUE(IsSymbolName(UniqueSymbolName(like, symbols))) << like;
  }
}

}  // namespace
}  // namespace slipway
