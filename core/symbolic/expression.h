// Expression: an integer computed from symbols, such as "floordiv(width + 1, 2)". Extents of tensors
// that are not known when compiling, and every size that follows from them, are expressions; graphs
// and artifacts share them.
//
// Expressions are immutable values; copies share their nodes and reading is thread-safe. The
// constructors simplify, so that equal polynomials over equal divisions, minima and maxima are
// structurally equal (operator==); what differs may still have equal values. The canonical form is
//   a constant; a symbol; a sum of terms in a fixed order, its constant last; a product of symbols,
//   divisions, minima and maxima behind an optional constant factor; a division; a minimum or
//   maximum of two or more.
// Products are distributed over sums. A division by a positive constant is a floor division whose
// numerator has coefficients in [0, divisor): floordiv(w - 1, 2) + 1 and ceildiv(w, 2) are both
// floordiv(w + 1, 2). Divisions within divisions by constants become one.
#ifndef SLIPWAY_CORE_SYMBOLIC_EXPRESSION_H_
#define SLIPWAY_CORE_SYMBOLIC_EXPRESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace slipway {

inline constexpr int kMaxExpressionSize = 256;  // Nodes of one expression, written out as a tree.
inline constexpr int kMaxSymbolNameBytes = 64;

class Expression {
 public:
  // In the order in which operands are sorted.
  enum class Kind { kSymbol, kProduct, kSum, kFloorDivide, kCeilDivide, kMin, kMax, kConstant };

  Expression(int64_t value = 0);  // NOLINT: a number is an expression.

  // INVALID_ARGUMENT unless IsSymbolName(name).
  static absl::StatusOr<Expression> Symbol(absl::string_view name);

  // OUT_OF_RANGE when a constant does not fit in 64 bits, INVALID_ARGUMENT for a division by the
  // constant 0, RESOURCE_EXHAUSTED beyond kMaxExpressionSize; they name the operands.
  static absl::StatusOr<Expression> Add(const Expression& a, const Expression& b);
  static absl::StatusOr<Expression> Subtract(const Expression& a, const Expression& b);
  static absl::StatusOr<Expression> Multiply(const Expression& a, const Expression& b);
  // Rounded towards minus infinity.
  static absl::StatusOr<Expression> FloorDivide(const Expression& a, const Expression& b);
  // Rounded towards plus infinity.
  static absl::StatusOr<Expression> CeilDivide(const Expression& a, const Expression& b);
  static absl::StatusOr<Expression> Min(const Expression& a, const Expression& b);
  static absl::StatusOr<Expression> Max(const Expression& a, const Expression& b);

  Kind kind() const;
  bool is_constant() const { return kind() == Kind::kConstant; }
  int64_t constant() const;           // REQUIRES: is_constant().
  const std::string& symbol() const;  // REQUIRES: kind() == Kind::kSymbol.
  // Two of a division; two or more of sums, products, minima and maxima; else none.
  absl::Span<const Expression> operands() const;
  int size() const;  // Nodes, this one included.

  friend bool operator==(const Expression& a, const Expression& b) { return Compare(a, b) == 0; }
  friend bool operator!=(const Expression& a, const Expression& b) { return Compare(a, b) != 0; }
  // A total order by structure: negative, 0 or positive.
  static int Compare(const Expression& a, const Expression& b);

 private:
  struct Node;
  friend class ExpressionBuilder;
  explicit Expression(std::shared_ptr<const Node> node);

  std::shared_ptr<const Node> node_;
};

// Whether a symbol may have this name: letters, digits, "_" and ".", begins with a letter or "_", at
// most kMaxSymbolNameBytes long, and is none of floordiv, ceildiv, min and max.
bool IsSymbolName(absl::string_view name);

// The expression q with a = q * b whatever the symbols are, where polynomial division finds one. It
// equals a / b wherever b is not 0.
std::optional<Expression> ExactQuotient(const Expression& a, const Expression& b);

// "2*batch*floordiv(width + 1, 2) - 3". ParseExpression reads it back.
std::string ToString(const Expression& expression);

// How deep parentheses and functions may be nested in a text that is read, and its bytes: more than
// any expression prints as.
inline constexpr int kMaxExpressionNesting = 256;
inline constexpr int kMaxExpressionTextBytes = 32768;

//   sum     = product *( ( "+" / "-" ) product )
//   product = factor *( "*" factor )
//   factor  = int / "-" factor / symbol / "(" sum ")" / division / choice
//   division = ( "floordiv" / "ceildiv" ) "(" sum "," sum ")"
//   choice   = ( "min" / "max" ) "(" sum "," sum *( "," sum ) ")"
// INVALID_ARGUMENT names the place and what was expected there; RESOURCE_EXHAUSTED the limit; errors
// of the constructors above.
absl::StatusOr<Expression> ParseExpression(absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CORE_SYMBOLIC_EXPRESSION_H_
