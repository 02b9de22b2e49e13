#include <charconv>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/symbolic/expression.h"

namespace slipway {
namespace {

using Kind = Expression::Kind;

std::string Function(absl::string_view name, const Expression& expression) {
  return absl::StrCat(name, "(",
                      absl::StrJoin(expression.operands(), ", ",
                                    [](std::string* out, const Expression& operand) {
                                      absl::StrAppend(out, ToString(operand));
                                    }),
                      ")");
}

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Expression> Run() {
    SLIPWAY_ASSIGN_OR_RETURN(Expression expression, Sum(0));
    SkipBlanks();
    if (at_ != text_.size()) return Error("expected the end");
    return expression;
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::Status Expect(char c) {
    return Take(c) ? absl::OkStatus() : Error(absl::StrCat("expected '", std::string(1, c), "'"));
  }
  absl::Status Error(absl::string_view message) const {
    constexpr size_t kShown = 64;
    return absl::InvalidArgumentError(absl::StrCat("expression \"", text_.substr(0, kShown),
                                                   text_.size() > kShown ? "..." : "",
                                                   "\": ", message, " at character ", at_ + 1));
  }
  absl::string_view TakeWhile(bool (*accept)(char)) {
    const size_t begin = at_;
    while (at_ < text_.size() && accept(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  absl::StatusOr<Expression> Sum(int depth) {
    if (depth > kMaxExpressionNesting) {
      return absl::ResourceExhaustedError(
          absl::StrCat("an expression is nested deeper than the limit of ", kMaxExpressionNesting));
    }
    SLIPWAY_ASSIGN_OR_RETURN(Expression sum, Product(depth));
    while (true) {
      const bool plus = Take('+');
      if (!plus && !Take('-')) return sum;
      SLIPWAY_ASSIGN_OR_RETURN(const Expression term, Product(depth));
      SLIPWAY_ASSIGN_OR_RETURN(sum,
                               plus ? Expression::Add(sum, term) : Expression::Subtract(sum, term));
    }
  }

  absl::StatusOr<Expression> Product(int depth) {
    SLIPWAY_ASSIGN_OR_RETURN(Expression product, Factor(depth));
    while (Take('*')) {
      SLIPWAY_ASSIGN_OR_RETURN(const Expression factor, Factor(depth));
      SLIPWAY_ASSIGN_OR_RETURN(product, Expression::Multiply(product, factor));
    }
    return product;
  }

  absl::StatusOr<Expression> Factor(int depth) {
    SkipBlanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    // With its sign, since the lowest number has no positive one.
    if (absl::ascii_isdigit(c) || (c == '-' && absl::ascii_isdigit(next))) return Number();
    if (Take('(')) {
      SLIPWAY_ASSIGN_OR_RETURN(Expression inner, Sum(depth + 1));
      SLIPWAY_RETURN_IF_ERROR(Expect(')'));
      return inner;
    }
    if (Take('-')) {
      if (depth > kMaxExpressionNesting) return Sum(depth);  // Says so.
      SLIPWAY_ASSIGN_OR_RETURN(const Expression factor, Factor(depth + 1));
      return Expression::Multiply(-1, factor);
    }
    const absl::string_view name =
        TakeWhile([](char x) { return absl::ascii_isalnum(x) || x == '_' || x == '.'; });
    if (name == "floordiv") return Division(Expression::FloorDivide, depth);
    if (name == "ceildiv") return Division(Expression::CeilDivide, depth);
    if (name == "min") return Choice(Expression::Min, depth);
    if (name == "max") return Choice(Expression::Max, depth);
    if (!IsSymbolName(name)) return Error("expected a number, a symbol or a function");
    return Expression::Symbol(name);
  }

  absl::StatusOr<Expression> Number() {
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto parsed = std::from_chars(begin, text_.data() + text_.size(), value);
    if (parsed.ec != std::errc()) return Error("a number that does not fit in 64 bits");
    at_ += parsed.ptr - begin;
    return Expression(value);
  }

  using Operation = absl::StatusOr<Expression> (*)(const Expression&, const Expression&);

  absl::StatusOr<Expression> Division(Operation divide, int depth) {
    SLIPWAY_RETURN_IF_ERROR(Expect('('));
    SLIPWAY_ASSIGN_OR_RETURN(const Expression numerator, Sum(depth + 1));
    SLIPWAY_RETURN_IF_ERROR(Expect(','));
    SLIPWAY_ASSIGN_OR_RETURN(const Expression divisor, Sum(depth + 1));
    SLIPWAY_RETURN_IF_ERROR(Expect(')'));
    return divide(numerator, divisor);
  }

  absl::StatusOr<Expression> Choice(Operation choose, int depth) {
    SLIPWAY_RETURN_IF_ERROR(Expect('('));
    SLIPWAY_ASSIGN_OR_RETURN(Expression chosen, Sum(depth + 1));
    SLIPWAY_RETURN_IF_ERROR(Expect(','));
    do {
      SLIPWAY_ASSIGN_OR_RETURN(const Expression other, Sum(depth + 1));
      SLIPWAY_ASSIGN_OR_RETURN(chosen, choose(chosen, other));
    } while (Take(','));
    SLIPWAY_RETURN_IF_ERROR(Expect(')'));
    return chosen;
  }

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string ToString(const Expression& expression) {
  switch (expression.kind()) {
    case Kind::kConstant:
      return absl::StrCat(expression.constant());
    case Kind::kSymbol:
      return expression.symbol();
    case Kind::kProduct: {
      std::string text;
      for (const Expression& factor : expression.operands()) {
        const bool is_sign = text.empty() && factor == Expression(-1);
        absl::StrAppend(&text, is_sign ? "-" : ToString(factor), is_sign ? "" : "*");
      }
      text.pop_back();
      return text;
    }
    case Kind::kSum: {
      std::string text;
      for (const Expression& operand : expression.operands()) {
        const std::string term = ToString(operand);
        const bool subtract =
            !text.empty() && term[0] == '-' && term.substr(0, 20) != "-9223372036854775808";
        absl::StrAppend(&text, text.empty() ? "" : (subtract ? " - " : " + "),
                        subtract ? term.substr(1) : term);
      }
      return text;
    }
    case Kind::kFloorDivide:
      return Function("floordiv", expression);
    case Kind::kCeilDivide:
      return Function("ceildiv", expression);
    case Kind::kMin:
      return Function("min", expression);
    case Kind::kMax:
      return Function("max", expression);
  }
  return "";
}

absl::StatusOr<Expression> ParseExpression(absl::string_view text) {
  if (text.size() > kMaxExpressionTextBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the text of an expression has ", text.size(),
                                                     " bytes, the limit is ",
                                                     kMaxExpressionTextBytes));
  }
  return Parser(text).Run();
}

}  // namespace slipway
