// Dimension: one extent of a value's shape: a number, an expression over symbols, or not known.
#ifndef SLIPWAY_CORE_GRAPH_DIMENSION_H_
#define SLIPWAY_CORE_GRAPH_DIMENSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/symbolic/expression.h"
#include "core/tensor/shape.h"

namespace slipway {

// A value type. Reading is thread-safe.
class Dimension {
 public:
  Dimension() = default;                                // Not known.
  Dimension(int64_t extent) : content_(extent) {}       // NOLINT: a number is an extent.
  Dimension(int extent) : content_(int64_t{extent}) {}  // NOLINT
  // A constant expression is a known extent.
  Dimension(Expression expression);  // NOLINT: so is an expression.

  bool is_known() const { return std::holds_alternative<int64_t>(content_); }
  bool is_unknown() const { return std::holds_alternative<std::monostate>(content_); }
  // REQUIRES: is_known().
  int64_t extent() const { return std::get<int64_t>(content_); }
  // What the extent is computed from; a constant where it is known. REQUIRES: !is_unknown().
  Expression expression() const;

  // The symbol that the extent is exactly; null where it is anything else. Valid as long as the dimension.
  const std::string* symbol() const;

  // As written: two that are not known are equal here, though their extents may differ.
  friend bool operator==(const Dimension& a, const Dimension& b) {
    return a.content_ == b.content_;
  }
  friend bool operator!=(const Dimension& a, const Dimension& b) { return !(a == b); }

 private:
  std::variant<std::monostate, int64_t, Expression> content_;
};

using Dimensions = std::vector<Dimension>;

// Arithmetic on extents. A result is not known where an operand is not, and where it does not fit in
// 64 bits, becomes too large an expression or is divided by 0.
Dimension operator+(const Dimension& a, const Dimension& b);
Dimension operator-(const Dimension& a, const Dimension& b);
Dimension operator*(const Dimension& a, const Dimension& b);
Dimension FloorDivide(const Dimension& a, const Dimension& b);
Dimension CeilDivide(const Dimension& a, const Dimension& b);
Dimension Min(const Dimension& a, const Dimension& b);
Dimension Max(const Dimension& a, const Dimension& b);

// Whether the two have the same extent, whatever the symbols are.
bool SameExtent(const Dimension& a, const Dimension& b);
bool SameExtents(absl::Span<const Dimension> a, absl::Span<const Dimension> b);

// Whether the two differ, whatever the symbols are.
bool Contradict(const Dimension& a, const Dimension& b);
bool Contradict(absl::Span<const Dimension> a, absl::Span<const Dimension> b);

// Whether it is 0 or more, whatever the symbols are; they are never negative. False where that is not seen.
bool IsNeverNegative(const Dimension& dimension);

// Of two that have the same extent the one that says more: a number before an expression before what
// is not known; `a` where both say as much.
const Dimension& MorePrecise(const Dimension& a, const Dimension& b);

// NumPy's multidirectional broadcast. A known extent other than 1 decides about what stands against
// it; of two expressions it is the larger (what computes checks that they are the same, or one of them 1). Where nothing is
// known of one, the result is not known. INVALID_ARGUMENT names both shapes when two known
// extents contradict.
absl::StatusOr<Dimensions> Broadcast(absl::Span<const Dimension> a, absl::Span<const Dimension> b);

// The product of all; 1 of none.
Dimension NumElements(absl::Span<const Dimension> dimensions);

// Null unless all are known.
std::optional<Shape> KnownShape(absl::Span<const Dimension> dimensions);
Dimensions ToDimensions(absl::Span<const int64_t> shape);

// "3", "floordiv(width + 1, 2)", "?"
std::string ToString(const Dimension& dimension);
// "[batch, 3, ?]"
std::string ToString(absl::Span<const Dimension> dimensions);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_DIMENSION_H_
