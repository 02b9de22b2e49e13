#include "core/symbolic/constraint.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"

namespace slipway {

std::string ToString(const Constraint& constraint) {
  return absl::StrJoin(constraint.any_of, " or ", [](std::string* out, const Equality& equality) {
    absl::StrAppend(out, ToString(equality.left), " = ", ToString(equality.right));
  });
}

absl::Status CheckConstraints(absl::Span<const Constraint> constraints,
                              absl::Span<const Symbol> symbols) {
  if (constraints.size() > kMaxConstraints) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "there are ", constraints.size(), " constraints, the limit is ", kMaxConstraints));
  }
  for (const Constraint& constraint : constraints) {
    if (constraint.any_of.empty() || constraint.any_of.size() > kMaxConstraintEqualities) {
      return absl::InvalidArgumentError(
          absl::StrCat("constraint \"", ToString(constraint), "\" has ", constraint.any_of.size(),
                       " equalities, not 1 to ", kMaxConstraintEqualities));
    }
    for (const Equality& equality : constraint.any_of) {
      for (const Expression* side : {&equality.left, &equality.right}) {
        SLIPWAY_RETURN_IF_ERROR_WITH(CheckSymbolsKnown(*side, symbols),
                                     absl::StrCat("constraint \"", ToString(constraint), "\""));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckHolds(const Constraint& constraint, const SymbolValues& values) {
  std::vector<std::string> found;
  for (const Equality& equality : constraint.any_of) {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t left, Evaluate(equality.left, values));
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t right, Evaluate(equality.right, values));
    if (left == right) return absl::OkStatus();
    found.push_back(absl::StrCat(left, " and ", right));
  }
  return absl::InvalidArgumentError(absl::StrCat(constraint.user, " needs ", ToString(constraint),
                                                 ", but these are ", absl::StrJoin(found, ", ")));
}

}  // namespace slipway
