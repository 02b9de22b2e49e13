// Constraint: what must hold between symbols for a graph or program to make sense.
#ifndef SLIPWAY_CORE_SYMBOLIC_CONSTRAINT_H_
#define SLIPWAY_CORE_SYMBOLIC_CONSTRAINT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/symbolic/evaluation.h"
#include "core/symbolic/expression.h"

namespace slipway {

inline constexpr int kMaxConstraints = 4096;        // Of one graph or function.
inline constexpr int kMaxConstraintEqualities = 8;  // Of one constraint.

struct Equality {
  Expression left;
  Expression right;

  friend bool operator==(const Equality&, const Equality&) = default;
};

// At least one of the equalities holds. Types are computed as if all did: where symbols have other values, nothing is
// computed.
struct Constraint {
  std::vector<Equality> any_of;  // Not empty.
  std::string user;              // Who needs it, for people: "Add sum".

  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// "n = m or min(m, n) = 1"
std::string ToString(const Constraint& constraint);

// OK when there are not too many, of not too many equalities, whose symbols are all in the list. INVALID_ARGUMENT names the
// constraint; RESOURCE_EXHAUSTED the limit.
absl::Status CheckConstraints(absl::Span<const Constraint> constraints,
                              absl::Span<const Symbol> symbols);

// INVALID_ARGUMENT says what must hold, for whom, and what the symbols are; errors of Evaluate.
absl::Status CheckHolds(const Constraint& constraint, const SymbolValues& values);

}  // namespace slipway

#endif  // SLIPWAY_CORE_SYMBOLIC_CONSTRAINT_H_
