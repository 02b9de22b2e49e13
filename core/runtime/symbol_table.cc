#include "core/runtime/symbol_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {

SymbolTable::SymbolTable(CheckedManifest manifest)
    : manifest_(std::move(manifest)),
      numbers_(static_cast<size_t>(manifest_.proto().symbols_size())),
      bound_by_(numbers_.size()),
      expressions_(manifest_.expressions().size()) {}

absl::Status SymbolTable::Bind(uint64_t call, uint32_t symbol, int64_t number) {
  const v1::Symbol& proto = manifest_.proto().symbols(static_cast<int>(symbol));
  if (number < proto.min() || number > proto.max()) {
    return absl::InvalidArgumentError(absl::StrCat("symbol '", absl::Utf8SafeCEscape(proto.name()),
                                                   "' is ", proto.min(), " to ", proto.max(),
                                                   ", not ", number));
  }
  if (bound_by_[symbol] == call && numbers_[symbol] != number) {
    return absl::InvalidArgumentError(absl::StrCat("symbol '", absl::Utf8SafeCEscape(proto.name()),
                                                   "' is ", numbers_[symbol], " already, not ",
                                                   number));
  }
  if (numbers_[symbol] != number || bound_by_[symbol] == 0) ++changes_;
  numbers_[symbol] = number;
  bound_by_[symbol] = call;
  return absl::OkStatus();
}

absl::Status SymbolTable::BindExtents(uint64_t call, const v1::Value& value,
                                      absl::Span<const int64_t> extents) {
  for (size_t d = 0; d < extents.size(); ++d) {
    const v1::Dimension& dimension = value.shape(static_cast<int>(d));
    int64_t extent = extents[d];
    if (dimension.has_value()) {
      if (extent == dimension.value() || extent == kUnknownExtent) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " must be ", dimension.value(), ", not ", extent));
    }
    if (manifest_.expressions().symbol(dimension.expression()) < 0) continue;
    const auto symbol =
        static_cast<uint32_t>(manifest_.expressions().symbol(dimension.expression()));
    if (extent == kUnknownExtent) {
      if (bound_by_[symbol] == call) continue;
      extent = manifest_.proto().symbols(static_cast<int>(symbol)).min();
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(Bind(call, symbol, extent), absl::StrCat("dimension ", d));
  }
  return absl::OkStatus();
}

absl::Status SymbolTable::CompareExtents(const v1::Value& value,
                                         absl::Span<const int64_t> extents) const {
  for (size_t d = 0; d < extents.size(); ++d) {
    const v1::Dimension& dimension = value.shape(static_cast<int>(d));
    if (!dimension.has_expression() || extents[d] == kUnknownExtent) continue;
    const int64_t expected = expressions_[dimension.expression()];
    if (extents[d] == expected) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("dimension ", d, " must be ", expected, " here, not ", extents[d]));
  }
  return absl::OkStatus();
}

absl::Status SymbolTable::CheckHolds(const v1::Constraint& constraint) const {
  const auto holds = [this](const v1::Constraint::Equality& equality) {
    return expressions_[equality.left()] == expressions_[equality.right()];
  };
  if (std::any_of(constraint.any_of().begin(), constraint.any_of().end(), holds)) {
    return absl::OkStatus();
  }
  const Expressions& table = manifest_.expressions();
  std::string wanted;
  std::string found;
  for (const v1::Constraint::Equality& equality : constraint.any_of()) {
    absl::StrAppend(&wanted, wanted.empty() ? "" : " or ", table.text(equality.left()), " = ",
                    table.text(equality.right()));
    absl::StrAppend(&found, found.empty() ? "" : ", ", expressions_[equality.left()], " and ",
                    expressions_[equality.right()]);
  }
  return absl::InvalidArgumentError(absl::StrCat(absl::Utf8SafeCEscape(constraint.user()),
                                                 " needs ", wanted, ", but these are ", found));
}

absl::Status SymbolTable::Evaluate(absl::Span<const uint32_t> expressions) {
  return manifest_.expressions().Evaluate(expressions, numbers_, absl::MakeSpan(expressions_));
}

}  // namespace slipway
