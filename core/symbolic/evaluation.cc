#include "core/symbolic/evaluation.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/symbolic/checked_math.h"

namespace slipway {
namespace {

using Kind = Expression::Kind;

absl::Status UnknownSymbol(absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat("there is no symbol \"", name, "\""));
}

absl::Status DividesByZero(const Expression& expression) {
  return absl::InvalidArgumentError(absl::StrCat("\"", ToString(expression), "\" divides by 0"));
}

absl::Status Overflows(const Expression& expression) {
  return absl::OutOfRangeError(
      absl::StrCat("\"", ToString(expression), "\" does not fit in 64 bits"));
}

std::optional<int64_t> Apply(Kind kind, int64_t a, int64_t b) {
  switch (kind) {
    case Kind::kSum:
      return CheckedAdd(a, b);
    case Kind::kProduct:
      return CheckedMultiply(a, b);
    case Kind::kFloorDivide:
      return CheckedFloorDivide(a, b);
    case Kind::kCeilDivide:
      return CheckedCeilDivide(a, b);
    case Kind::kMin:
      return std::min(a, b);
    case Kind::kMax:
      return std::max(a, b);
    case Kind::kConstant:
    case Kind::kSymbol:
      break;
  }
  return std::nullopt;
}

bool IsDivision(Kind kind) { return kind == Kind::kFloorDivide || kind == Kind::kCeilDivide; }

absl::StatusOr<int64_t> Value(const Expression& expression, const SymbolValues& values) {
  if (expression.is_constant()) return expression.constant();
  if (expression.kind() == Kind::kSymbol) {
    const auto found = values.find(expression.symbol());
    if (found == values.end()) return UnknownSymbol(expression.symbol());
    return found->second;
  }
  SLIPWAY_ASSIGN_OR_RETURN(int64_t result, Value(expression.operands()[0], values));
  for (const Expression& operand : expression.operands().subspan(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t value, Value(operand, values));
    if (value == 0 && IsDivision(expression.kind())) return DividesByZero(expression);
    const auto applied = Apply(expression.kind(), result, value);
    if (!applied.has_value()) return Overflows(expression);
    result = *applied;
  }
  return result;
}

// The end of the 64 bits beyond which the result lies. REQUIRES: Apply gives none.
int64_t End(Kind kind, int64_t a, int64_t b) {
  const bool is_negative = kind == Kind::kSum ? a < 0 : (a < 0) != (b < 0);
  return is_negative ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// Every operation is monotonic in each operand while the other stays (a divisor keeps its sign), so
// its extremes lie at the ends of both intervals.
absl::StatusOr<Interval> Applied(const Expression& expression, Interval a, Interval b) {
  if (IsDivision(expression.kind()) && b.min <= 0 && b.max >= 0) return DividesByZero(expression);
  std::optional<Interval> result;
  for (const int64_t x : {a.min, a.max}) {
    for (const int64_t y : {b.min, b.max}) {
      const int64_t value = Apply(expression.kind(), x, y).value_or(End(expression.kind(), x, y));
      if (!result.has_value()) result = Interval{value, value};
      *result = {std::min(result->min, value), std::max(result->max, value)};
    }
  }
  return *result;
}

absl::StatusOr<Interval> Bounds(const Expression& expression, absl::Span<const Symbol> symbols) {
  if (expression.is_constant()) return Interval{expression.constant(), expression.constant()};
  if (expression.kind() == Kind::kSymbol) {
    const Symbol* symbol = FindSymbol(symbols, expression.symbol());
    if (symbol == nullptr) return UnknownSymbol(expression.symbol());
    return Interval{symbol->min, symbol->max};
  }
  SLIPWAY_ASSIGN_OR_RETURN(Interval result, Bounds(expression.operands()[0], symbols));
  for (const Expression& operand : expression.operands().subspan(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Interval next, Bounds(operand, symbols));
    SLIPWAY_ASSIGN_OR_RETURN(result, Applied(expression, result, next));
  }
  return result;
}

absl::StatusOr<Expression> Combine(Kind kind, const Expression& a, const Expression& b) {
  switch (kind) {
    case Kind::kSum:
      return Expression::Add(a, b);
    case Kind::kProduct:
      return Expression::Multiply(a, b);
    case Kind::kFloorDivide:
      return Expression::FloorDivide(a, b);
    case Kind::kCeilDivide:
      return Expression::CeilDivide(a, b);
    case Kind::kMin:
      return Expression::Min(a, b);
    case Kind::kMax:
      return Expression::Max(a, b);
    case Kind::kConstant:
    case Kind::kSymbol:
      break;
  }
  return absl::InternalError("constants and symbols combine nothing");
}

std::string Context(const Expression& expression) {
  return absl::StrCat("expression \"", ToString(expression), "\"");
}

}  // namespace

const Symbol* FindSymbol(absl::Span<const Symbol> symbols, absl::string_view name) {
  for (const Symbol& symbol : symbols) {
    if (symbol.name == name) return &symbol;
  }
  return nullptr;
}

std::string UniqueSymbolName(absl::string_view like, absl::Span<const Symbol> symbols) {
  std::string base;
  for (const char c : like.substr(0, kMaxSymbolNameBytes - 8)) {
    base.push_back(absl::ascii_isalnum(c) || c == '_' || c == '.' ? c : '_');
  }
  if (!IsSymbolName(base)) base.insert(0, "d_");
  std::string unique = base;
  for (int i = 1; FindSymbol(symbols, unique) != nullptr; ++i) {
    unique = absl::StrCat(base, ".", i);
  }
  return unique;
}

absl::Status CheckSymbols(absl::Span<const Symbol> symbols) {
  if (symbols.size() > kMaxSymbols) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", symbols.size(), " symbols, the limit is ", kMaxSymbols));
  }
  absl::flat_hash_set<absl::string_view> names;
  for (const Symbol& symbol : symbols) {
    SLIPWAY_RETURN_IF_ERROR(Expression::Symbol(symbol.name).status());
    if (!names.insert(symbol.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol \"", symbol.name, "\" is there twice"));
    }
    if (symbol.min < 0 || symbol.min > symbol.max || symbol.max > kMaxSymbolValue) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol \"", symbol.name, "\" lies in ", symbol.min, "..", symbol.max,
                       ", which must be a range within 0..", kMaxSymbolValue));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSymbolsKnown(const Expression& expression, absl::Span<const Symbol> symbols) {
  if (expression.kind() == Kind::kSymbol && FindSymbol(symbols, expression.symbol()) == nullptr) {
    return UnknownSymbol(expression.symbol());
  }
  for (const Expression& operand : expression.operands()) {
    SLIPWAY_RETURN_IF_ERROR(CheckSymbolsKnown(operand, symbols));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Evaluate(const Expression& expression, const SymbolValues& values) {
  auto value = Value(expression, values);
  if (!value.ok()) return Annotate(value.status(), Context(expression));
  return value;
}

absl::StatusOr<Interval> BoundsOf(const Expression& expression, absl::Span<const Symbol> symbols) {
  auto bounds = Bounds(expression, symbols);
  if (!bounds.ok()) return Annotate(bounds.status(), Context(expression));
  return bounds;
}

absl::StatusOr<Expression> Substitute(const Expression& expression,
                                      const SymbolExpressions& replacements) {
  if (expression.is_constant()) return expression;
  if (expression.kind() == Kind::kSymbol) {
    const auto found = replacements.find(expression.symbol());
    return found == replacements.end() ? expression : found->second;
  }
  SLIPWAY_ASSIGN_OR_RETURN(Expression result, Substitute(expression.operands()[0], replacements));
  for (const Expression& operand : expression.operands().subspan(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Expression next, Substitute(operand, replacements));
    SLIPWAY_ASSIGN_OR_RETURN(result, Combine(expression.kind(), result, next));
  }
  return result;
}

}  // namespace slipway
