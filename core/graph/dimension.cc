#include "core/graph/dimension.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/symbolic/checked_math.h"

namespace slipway {
namespace {

constexpr size_t kMaxExtentsShown = 32;

// One operation on numbers, which most extents are, and on expressions.
struct Operation {
  std::optional<int64_t> (*on_numbers)(int64_t, int64_t);
  absl::StatusOr<Expression> (*on_expressions)(const Expression&, const Expression&);
};

Dimension Apply(Operation operation, const Dimension& a, const Dimension& b) {
  if (a.is_unknown() || b.is_unknown()) return Dimension();
  if (a.is_known() && b.is_known()) {
    const auto result = operation.on_numbers(a.extent(), b.extent());
    return result.has_value() ? Dimension(*result) : Dimension();
  }
  absl::StatusOr<Expression> result = operation.on_expressions(a.expression(), b.expression());
  return result.ok() ? Dimension(*std::move(result)) : Dimension();
}

template <std::optional<int64_t> (*divide)(int64_t, int64_t)>
std::optional<int64_t> Divide(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  return divide(a, b);
}

// The difference where it is the same for all symbols.
std::optional<int64_t> Difference(const Dimension& a, const Dimension& b) {
  const Dimension difference = a - b;
  if (!difference.is_known()) return std::nullopt;
  return difference.extent();
}

}  // namespace

Dimension::Dimension(Expression expression) {
  if (expression.is_constant()) {
    content_ = expression.constant();
  } else {
    content_ = std::move(expression);
  }
}

Expression Dimension::expression() const {
  return is_known() ? Expression(extent()) : std::get<Expression>(content_);
}

const std::string* Dimension::symbol() const {
  const Expression* expression = std::get_if<Expression>(&content_);
  const bool is_symbol = expression != nullptr && expression->kind() == Expression::Kind::kSymbol;
  return is_symbol ? &expression->symbol() : nullptr;
}

Dimension operator+(const Dimension& a, const Dimension& b) {
  return Apply({CheckedAdd, Expression::Add}, a, b);
}
Dimension operator-(const Dimension& a, const Dimension& b) {
  return Apply({CheckedSubtract, Expression::Subtract}, a, b);
}
Dimension operator*(const Dimension& a, const Dimension& b) {
  return Apply({CheckedMultiply, Expression::Multiply}, a, b);
}
Dimension FloorDivide(const Dimension& a, const Dimension& b) {
  return Apply({Divide<CheckedFloorDivide>, Expression::FloorDivide}, a, b);
}
Dimension CeilDivide(const Dimension& a, const Dimension& b) {
  return Apply({Divide<CheckedCeilDivide>, Expression::CeilDivide}, a, b);
}
Dimension Min(const Dimension& a, const Dimension& b) {
  return Apply(
      {[](int64_t x, int64_t y) { return std::optional(std::min(x, y)); }, Expression::Min}, a, b);
}
Dimension Max(const Dimension& a, const Dimension& b) {
  return Apply(
      {[](int64_t x, int64_t y) { return std::optional(std::max(x, y)); }, Expression::Max}, a, b);
}

bool SameExtent(const Dimension& a, const Dimension& b) { return !a.is_unknown() && a == b; }

namespace {

bool IsNeverNegative(const Expression& expression) {
  const auto operands = expression.operands();
  const auto is_never_negative = [](const Expression& e) { return IsNeverNegative(e); };
  switch (expression.kind()) {
    case Expression::Kind::kConstant:
      return expression.constant() >= 0;
    case Expression::Kind::kSymbol:
      return true;
    case Expression::Kind::kMax:
      return std::any_of(operands.begin(), operands.end(), is_never_negative);
    default:
      return std::all_of(operands.begin(), operands.end(), is_never_negative);
  }
}

}  // namespace

bool IsNeverNegative(const Dimension& dimension) {
  return !dimension.is_unknown() && IsNeverNegative(dimension.expression());
}

bool SameExtents(absl::Span<const Dimension> a, absl::Span<const Dimension> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameExtent);
}

bool Contradict(const Dimension& a, const Dimension& b) {
  return Difference(a, b).value_or(0) != 0;
}

bool Contradict(absl::Span<const Dimension> a, absl::Span<const Dimension> b) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(),
                     [](const Dimension& x, const Dimension& y) { return !Contradict(x, y); });
}

const Dimension& MorePrecise(const Dimension& a, const Dimension& b) {
  return a.is_known() || b.is_unknown() || !(b.is_known() || a.is_unknown()) ? a : b;
}

namespace {

// Whether `part` is a minimum of `whole` and others.
bool IsLimited(const Dimension& part, const Dimension& whole) {
  if (part.is_unknown() || whole.is_unknown()) return false;
  const Expression limited = part.expression();
  if (limited.kind() != Expression::Kind::kMin) return false;
  const auto operands = limited.operands();
  return std::find(operands.begin(), operands.end(), whole.expression()) != operands.end();
}

Dimension Larger(const Dimension& a, const Dimension& b) {
  if (IsLimited(a, b)) return b;
  if (IsLimited(b, a)) return a;
  return Max(a, b);
}

}  // namespace

absl::StatusOr<Dimensions> Broadcast(absl::Span<const Dimension> a, absl::Span<const Dimension> b) {
  Dimensions result(std::max(a.size(), b.size()), Dimension(1));
  for (size_t i = 1; i <= result.size(); ++i) {  // From the innermost dimension outwards.
    const Dimension x = i <= a.size() ? a[a.size() - i] : Dimension(1);
    const Dimension y = i <= b.size() ? b[b.size() - i] : Dimension(1);
    Dimension& extent = result[result.size() - i];
    if (x == Dimension(1) || SameExtent(x, y)) {
      extent = y;
    } else if (y == Dimension(1)) {
      extent = x;
    } else if (x.is_known() && y.is_known()) {
      return absl::InvalidArgumentError(absl::StrCat("shapes ", ToString(a), " and ", ToString(b),
                                                     " cannot be broadcast together"));
    } else {
      extent = x.is_known() ? x : (y.is_known() ? y : Larger(x, y));
    }
  }
  return result;
}

Dimension NumElements(absl::Span<const Dimension> dimensions) {
  Dimension count = 1;
  for (const Dimension& dimension : dimensions) count = count * dimension;
  return count;
}

std::optional<Shape> KnownShape(absl::Span<const Dimension> dimensions) {
  Shape shape;
  for (const Dimension& dimension : dimensions) {
    if (!dimension.is_known()) return std::nullopt;
    shape.push_back(dimension.extent());
  }
  return shape;
}

Dimensions ToDimensions(absl::Span<const int64_t> shape) {
  return Dimensions(shape.begin(), shape.end());
}

std::string ToString(const Dimension& dimension) {
  return dimension.is_unknown() ? "?" : ToString(dimension.expression());
}

std::string ToString(absl::Span<const Dimension> dimensions) {
  return absl::StrCat("[",
                      absl::StrJoin(dimensions.subspan(0, kMaxExtentsShown), ", ",
                                    [](std::string* out, const Dimension& dimension) {
                                      absl::StrAppend(out, ToString(dimension));
                                    }),
                      dimensions.size() > kMaxExtentsShown ? ", ..." : "", "]");
}

}  // namespace slipway
