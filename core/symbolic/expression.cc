#include "core/symbolic/expression.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/symbolic/checked_math.h"

namespace slipway {

struct Expression::Node {
  Kind kind = Kind::kConstant;
  int64_t value = 0;                 // Of a constant.
  std::string name;                  // Of a symbol.
  std::vector<Expression> operands;  // Of everything else.
  int size = 1;
};

// Makes the nodes, and nothing else does.
class ExpressionBuilder {
 public:
  using Kind = Expression::Kind;

  static Expression Symbol(absl::string_view name) {
    auto node = std::make_shared<Expression::Node>();
    node->kind = Kind::kSymbol;
    node->name = std::string(name);
    return Expression(std::move(node));
  }

  static absl::StatusOr<Expression> Make(Kind kind, std::vector<Expression> operands) {
    auto node = std::make_shared<Expression::Node>();
    node->kind = kind;
    for (const Expression& operand : operands) node->size += operand.size();
    if (node->size > kMaxExpressionSize) {
      return absl::ResourceExhaustedError(
          absl::StrCat("an expression becomes larger than the limit of ", kMaxExpressionSize,
                       " terms and factors; it begins with \"", ToString(operands.front()), "\""));
    }
    node->operands = std::move(operands);
    return Expression(std::move(node));
  }
};

namespace {

using Kind = Expression::Kind;

// coefficient * factors; without factors the constant of a sum.
struct Term {
  int64_t coefficient = 0;
  std::vector<Expression> factors;  // Sorted; neither constants, products nor sums.
};

bool IsBefore(const Expression& a, const Expression& b) { return Expression::Compare(a, b) < 0; }

// Lexicographic, and what continues another comes before it: a monomial order, the constant last.
int CompareFactors(const std::vector<Expression>& a, const std::vector<Expression>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const int order = Expression::Compare(a[i], b[i]);
    if (order != 0) return order;
  }
  return a.size() == b.size() ? 0 : (a.size() > b.size() ? -1 : 1);
}

Term TermOf(const Expression& expression) {
  switch (expression.kind()) {
    case Kind::kConstant:
      return {expression.constant(), {}};
    case Kind::kProduct: {
      const auto operands = expression.operands();
      const bool has_coefficient = operands[0].is_constant();
      return {has_coefficient ? operands[0].constant() : 1,
              {operands.begin() + (has_coefficient ? 1 : 0), operands.end()}};
    }
    default:
      return {1, {expression}};
  }
}

// Sorted as CompareFactors has it, none with the coefficient 0.
std::vector<Term> TermsOf(const Expression& expression) {
  std::vector<Term> terms;
  if (expression.kind() == Kind::kSum) {
    for (const Expression& operand : expression.operands()) terms.push_back(TermOf(operand));
  } else if (expression != Expression(0)) {
    terms.push_back(TermOf(expression));
  }
  return terms;
}

absl::StatusOr<Expression> FromTerm(Term term) {
  if (term.factors.empty()) return Expression(term.coefficient);
  if (term.coefficient == 1 && term.factors.size() == 1) return term.factors[0];
  if (term.coefficient != 1) term.factors.insert(term.factors.begin(), term.coefficient);
  return ExpressionBuilder::Make(Kind::kProduct, std::move(term.factors));
}

absl::Status Overflow(const char* verb, const Expression& a, const Expression& b) {
  return absl::OutOfRangeError(absl::StrCat("a constant of \"", ToString(a), "\" ", verb, " \"",
                                            ToString(b), "\" does not fit in 64 bits"));
}

// Null when a coefficient overflows.
std::optional<std::vector<Term>> Collect(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return CompareFactors(a.factors, b.factors) < 0; });
  std::vector<Term> collected;
  for (Term& term : terms) {
    if (!collected.empty() && CompareFactors(collected.back().factors, term.factors) == 0) {
      const auto sum = CheckedAdd(collected.back().coefficient, term.coefficient);
      if (!sum.has_value()) return std::nullopt;
      collected.back().coefficient = *sum;
    } else {
      collected.push_back(std::move(term));
    }
  }
  collected.erase(std::remove_if(collected.begin(), collected.end(),
                                 [](const Term& term) { return term.coefficient == 0; }),
                  collected.end());
  return collected;
}

// REQUIRES: the terms are as TermsOf gives them.
absl::StatusOr<Expression> FromTerms(std::vector<Term> terms) {
  if (terms.empty()) return Expression(0);
  std::vector<Expression> operands;
  for (Term& term : terms) {
    SLIPWAY_ASSIGN_OR_RETURN(Expression operand, FromTerm(std::move(term)));
    operands.push_back(std::move(operand));
  }
  if (operands.size() == 1) return operands[0];
  return ExpressionBuilder::Make(Kind::kSum, std::move(operands));
}

absl::Status DivisionByZero(const Expression& a) {
  return absl::InvalidArgumentError(absl::StrCat("\"", ToString(a), "\" is divided by 0"));
}

// floor(a / divisor) for a positive constant. Takes whole multiples out of the numerator, cancels
// common factors and joins a division that is the whole numerator but for a constant:
// floor((floor(n / m) + c) / d) = floor((n + m * c) / (m * d)).
absl::StatusOr<Expression> FloorDivideByConstant(Expression a, int64_t divisor) {
  Expression quotient = 0;
  while (divisor != 1) {
    std::vector<Term> whole;
    std::vector<Term> rest;
    int64_t common = divisor;
    for (const Term& term : TermsOf(a)) {
      const int64_t times = *CheckedFloorDivide(term.coefficient, divisor);
      const int64_t left = term.coefficient - times * divisor;
      if (times != 0) whole.push_back({times, term.factors});
      if (left != 0) rest.push_back({left, term.factors});
      if (left != 0 && !term.factors.empty()) common = std::gcd(common, left);
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Expression multiples, FromTerms(std::move(whole)));
    SLIPWAY_ASSIGN_OR_RETURN(quotient, Expression::Add(quotient, multiples));
    // What is left of the constant alone is less than the divisor.
    if (rest.empty() || rest[0].factors.empty()) return quotient;
    for (Term& term : rest) term.coefficient /= common;
    if (rest.back().coefficient == 0) rest.pop_back();
    divisor /= common;
    const Term constant = rest.back().factors.empty() ? rest.back() : Term();
    SLIPWAY_ASSIGN_OR_RETURN(a, FromTerms(rest));
    if (divisor == 1) break;

    const bool is_one_division = rest.size() == (constant.coefficient == 0 ? 1 : 2) &&
                                 rest[0].coefficient == 1 && rest[0].factors.size() == 1 &&
                                 rest[0].factors[0].kind() == Kind::kFloorDivide &&
                                 rest[0].factors[0].operands()[1].is_constant();
    const int64_t inner = is_one_division ? rest[0].factors[0].operands()[1].constant() : 1;
    const auto both = CheckedMultiply(divisor, inner);
    const auto shift = CheckedMultiply(constant.coefficient, inner);
    if (!is_one_division || !both.has_value() || !shift.has_value()) {
      SLIPWAY_ASSIGN_OR_RETURN(
          const Expression division,
          ExpressionBuilder::Make(Kind::kFloorDivide, {std::move(a), Expression(divisor)}));
      return Expression::Add(quotient, division);
    }
    SLIPWAY_ASSIGN_OR_RETURN(a, Expression::Add(rest[0].factors[0].operands()[0], *shift));
    divisor = *both;
  }
  return Expression::Add(quotient, a);
}

// Both operands with the other sign, so that the divisor is positive.
absl::StatusOr<Expression> DivideNegated(absl::StatusOr<Expression> (*divide)(const Expression&,
                                                                              const Expression&),
                                         const Expression& a, const Expression& b) {
  SLIPWAY_ASSIGN_OR_RETURN(const Expression numerator, Expression::Multiply(a, -1));
  SLIPWAY_ASSIGN_OR_RETURN(const Expression divisor, Expression::Multiply(b, -1));
  return divide(numerator, divisor);
}

// The minimum or maximum: of operands whose difference is known only one is kept.
absl::StatusOr<Expression> Choose(Kind kind, const Expression& a, const Expression& b) {
  std::vector<Expression> kept;
  for (const Expression& side : {a, b}) {
    const absl::Span<const Expression> candidates =
        side.kind() == kind ? side.operands() : absl::MakeConstSpan(&side, 1);
    for (const Expression& candidate : candidates) {
      bool is_needed = true;
      for (size_t i = 0; is_needed && i < kept.size();) {
        const auto difference = Expression::Subtract(candidate, kept[i]);
        if (!difference.ok() || !difference->is_constant()) {
          ++i;
        } else if (difference->constant() != 0 &&
                   (difference->constant() < 0) == (kind == Kind::kMin)) {
          kept.erase(kept.begin() + i);
        } else {
          is_needed = false;
        }
      }
      if (is_needed) kept.push_back(candidate);
    }
  }
  if (kept.size() == 1) return kept[0];
  std::sort(kept.begin(), kept.end(), IsBefore);
  return ExpressionBuilder::Make(kind, std::move(kept));
}

}  // namespace

Expression::Expression(int64_t value) {
  auto node = std::make_shared<Node>();
  node->value = value;
  node_ = std::move(node);
}

Expression::Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

absl::StatusOr<Expression> Expression::Symbol(absl::string_view name) {
  if (!IsSymbolName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name.substr(0, 64), "\" cannot be the name of a symbol"));
  }
  return ExpressionBuilder::Symbol(name);
}

absl::StatusOr<Expression> Expression::Add(const Expression& a, const Expression& b) {
  std::vector<Term> terms = TermsOf(a);
  for (Term& term : TermsOf(b)) terms.push_back(std::move(term));
  auto sum = Collect(std::move(terms));
  if (!sum.has_value()) return Overflow("plus", a, b);
  return FromTerms(*std::move(sum));
}

absl::StatusOr<Expression> Expression::Subtract(const Expression& a, const Expression& b) {
  std::vector<Term> terms = TermsOf(a);
  for (Term& term : TermsOf(b)) {
    const auto negated = CheckedMultiply(term.coefficient, -1);
    if (!negated.has_value()) return Overflow("minus", a, b);
    terms.push_back({*negated, std::move(term.factors)});
  }
  auto difference = Collect(std::move(terms));
  if (!difference.has_value()) return Overflow("minus", a, b);
  return FromTerms(*std::move(difference));
}

absl::StatusOr<Expression> Expression::Multiply(const Expression& a, const Expression& b) {
  const std::vector<Term> left = TermsOf(a);
  const std::vector<Term> right = TermsOf(b);
  if (left.size() * right.size() > kMaxExpressionSize) {
    return absl::ResourceExhaustedError(absl::StrCat("the product of \"", ToString(a), "\" and \"",
                                                     ToString(b), "\" has more than ",
                                                     kMaxExpressionSize, " terms"));
  }
  std::vector<Term> terms;
  for (const Term& x : left) {
    for (const Term& y : right) {
      const auto coefficient = CheckedMultiply(x.coefficient, y.coefficient);
      if (!coefficient.has_value()) return Overflow("times", a, b);
      Term& term = terms.emplace_back(Term{*coefficient, x.factors});
      term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
      std::inplace_merge(term.factors.begin(), term.factors.begin() + x.factors.size(),
                         term.factors.end(), IsBefore);
    }
  }
  auto product = Collect(std::move(terms));
  if (!product.has_value()) return Overflow("times", a, b);
  return FromTerms(*std::move(product));
}

absl::StatusOr<Expression> Expression::FloorDivide(const Expression& a, const Expression& b) {
  if (!b.is_constant()) return ExpressionBuilder::Make(Kind::kFloorDivide, {a, b});
  if (b.constant() == 0) return DivisionByZero(a);
  if (b.constant() < 0) return DivideNegated(FloorDivide, a, b);
  return FloorDivideByConstant(a, b.constant());
}

absl::StatusOr<Expression> Expression::CeilDivide(const Expression& a, const Expression& b) {
  if (!b.is_constant()) return ExpressionBuilder::Make(Kind::kCeilDivide, {a, b});
  if (b.constant() == 0) return DivisionByZero(a);
  if (b.constant() < 0) return DivideNegated(CeilDivide, a, b);
  SLIPWAY_ASSIGN_OR_RETURN(const Expression raised, Add(a, b.constant() - 1));
  return FloorDivideByConstant(raised, b.constant());
}

absl::StatusOr<Expression> Expression::Min(const Expression& a, const Expression& b) {
  return Choose(Kind::kMin, a, b);
}

absl::StatusOr<Expression> Expression::Max(const Expression& a, const Expression& b) {
  return Choose(Kind::kMax, a, b);
}

Expression::Kind Expression::kind() const { return node_->kind; }

int64_t Expression::constant() const {
  SLIPWAY_CHECK(is_constant(), "not a constant");
  return node_->value;
}

const std::string& Expression::symbol() const {
  SLIPWAY_CHECK(kind() == Kind::kSymbol, "not a symbol");
  return node_->name;
}

absl::Span<const Expression> Expression::operands() const { return node_->operands; }

int Expression::size() const { return node_->size; }

int Expression::Compare(const Expression& a, const Expression& b) {
  if (a.node_ == b.node_) return 0;
  if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
  if (a.node_->value != b.node_->value) return a.node_->value < b.node_->value ? -1 : 1;
  const int names = a.node_->name.compare(b.node_->name);
  if (names != 0) return names;
  return CompareFactors(a.node_->operands, b.node_->operands);
}

bool IsSymbolName(absl::string_view name) {
  if (name.empty() || name.size() > kMaxSymbolNameBytes) return false;
  if (!absl::ascii_isalpha(name[0]) && name[0] != '_') return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.') return false;
  }
  return name != "floordiv" && name != "ceildiv" && name != "min" && name != "max";
}

std::optional<Expression> ExactQuotient(const Expression& a, const Expression& b) {
  const std::vector<Term> divisor = TermsOf(b);
  if (divisor.empty()) return std::nullopt;
  const Term& leading = divisor[0];
  Expression quotient = 0;
  Expression rest = a;
  // Each turn removes the leading term of the rest.
  for (int turn = 0; turn < kMaxExpressionSize; ++turn) {
    const std::vector<Term> terms = TermsOf(rest);
    if (terms.empty()) return quotient;
    const auto times = CheckedFloorDivide(terms[0].coefficient, leading.coefficient);
    if (!times.has_value() || *times * leading.coefficient != terms[0].coefficient) {
      return std::nullopt;
    }
    const std::vector<Expression>& factors = terms[0].factors;
    Term step{*times, {}};
    std::set_difference(factors.begin(), factors.end(), leading.factors.begin(),
                        leading.factors.end(), std::back_inserter(step.factors), IsBefore);
    if (step.factors.size() + leading.factors.size() != factors.size()) return std::nullopt;
    const auto one = FromTerm(std::move(step));
    if (!one.ok()) return std::nullopt;
    const auto sum = Expression::Add(quotient, *one);
    const auto product = Expression::Multiply(*one, b);
    if (!sum.ok() || !product.ok()) return std::nullopt;
    const auto left = Expression::Subtract(rest, *product);
    if (!left.ok()) return std::nullopt;
    quotient = *sum;
    rest = *left;
  }
  return std::nullopt;
}

}  // namespace slipway
