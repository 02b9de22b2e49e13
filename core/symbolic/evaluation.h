// What an expression is worth: its value, its bounds, or another expression under given symbols.
#ifndef SLIPWAY_CORE_SYMBOLIC_EVALUATION_H_
#define SLIPWAY_CORE_SYMBOLIC_EVALUATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/symbolic/expression.h"

namespace slipway {

inline constexpr int kMaxSymbols = 256;                             // Of one graph or program.
inline constexpr int64_t kMaxSymbolValue = (int64_t{1} << 31) - 1;  // As of extents.

// A size that is given when a program is bound to its inputs: an integer in [min, max].
struct Symbol {
  std::string name;
  int64_t min = 0;
  int64_t max = kMaxSymbolValue;

  friend bool operator==(const Symbol& a, const Symbol& b) {
    return a.name == b.name && a.min == b.min && a.max == b.max;
  }
  friend bool operator!=(const Symbol& a, const Symbol& b) { return !(a == b); }
};

// Null when there is none of this name.
const Symbol* FindSymbol(absl::Span<const Symbol> symbols, absl::string_view name);

// A symbol name that none of these has, made after `like`, which may be anything.
std::string UniqueSymbolName(absl::string_view like, absl::Span<const Symbol> symbols);

// OK when all names are symbol names and unique and 0 <= min <= max <= kMaxSymbolValue.
// INVALID_ARGUMENT names the symbol; RESOURCE_EXHAUSTED beyond kMaxSymbols.
absl::Status CheckSymbols(absl::Span<const Symbol> symbols);

// OK when every symbol of the expression is in the list. INVALID_ARGUMENT names one that is not.
absl::Status CheckSymbolsKnown(const Expression& expression, absl::Span<const Symbol> symbols);

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

// The value. INVALID_ARGUMENT for a symbol without value or a division by zero, OUT_OF_RANGE when
// anything on the way does not fit in 64 bits; both name the expression.
absl::StatusOr<int64_t> Evaluate(const Expression& expression, const SymbolValues& values);

struct Interval {
  int64_t min = 0;
  int64_t max = 0;
};

// An interval that holds the value for all values of the symbols within their bounds, though not
// always the narrowest; where it does not fit in 64 bits there is no value. INVALID_ARGUMENT when it may be divided by 0.
absl::StatusOr<Interval> BoundsOf(const Expression& expression, absl::Span<const Symbol> symbols);

using SymbolExpressions = std::map<std::string, Expression, std::less<>>;

// The expression with symbols replaced; those that are not in the map stay. Errors as those of the
// constructors of Expression.
absl::StatusOr<Expression> Substitute(const Expression& expression,
                                      const SymbolExpressions& replacements);

}  // namespace slipway

#endif  // SLIPWAY_CORE_SYMBOLIC_EVALUATION_H_
