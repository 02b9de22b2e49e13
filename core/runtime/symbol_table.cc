#include "core/runtime/symbol_table.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Operation = v1::Expression::Operation;

// False where there is no result.
bool Compute(Operation::Kind kind, int64_t left, int64_t right, int64_t& result) {
  switch (kind) {
    case Operation::ADD:
      return !__builtin_add_overflow(left, right, &result);
    case Operation::SUBTRACT:
      return !__builtin_sub_overflow(left, right, &result);
    case Operation::MULTIPLY:
      return !__builtin_mul_overflow(left, right, &result);
    case Operation::FLOOR_DIVIDE:
      if (right < 1) return false;
      result = left / right - (left % right < 0 ? 1 : 0);
      return true;
    case Operation::CEIL_DIVIDE:
      if (right < 1) return false;
      result = left / right + (left % right > 0 ? 1 : 0);
      return true;
    case Operation::MIN:
      result = std::min(left, right);
      return true;
    case Operation::MAX:
      result = std::max(left, right);
      return true;
    default:
      return false;
  }
}

}  // namespace

SymbolTable::SymbolTable(const v1::Manifest& manifest)
    : manifest_(manifest),
      symbols_(static_cast<size_t>(manifest.symbols_size())),
      expressions_(static_cast<size_t>(manifest.expressions_size())) {}

absl::Status SymbolTable::Bind(uint64_t call, uint32_t index, int64_t number) {
  Symbol& symbol = symbols_[index];
  const v1::Symbol& proto = manifest_.symbols(static_cast<int>(index));
  if (number < proto.min() || number > proto.max()) {
    return absl::InvalidArgumentError(absl::StrCat("symbol '", absl::Utf8SafeCEscape(proto.name()),
                                                   "' is ", proto.min(), " to ", proto.max(),
                                                   ", not ", number));
  }
  if (symbol.call == call && symbol.number != number) {
    return absl::InvalidArgumentError(absl::StrCat("symbol '", absl::Utf8SafeCEscape(proto.name()),
                                                   "' is ", symbol.number, " already, not ",
                                                   number));
  }
  if (symbol.number != number || symbol.call == 0) ++changes_;
  symbol = {number, call};
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
    const v1::Expression& expression =
        manifest_.expressions(static_cast<int>(dimension.expression()));
    if (!expression.has_symbol()) continue;
    if (extent == kUnknownExtent) {
      if (symbols_[expression.symbol()].call == call) continue;
      extent = manifest_.symbols(static_cast<int>(expression.symbol())).min();
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(Bind(call, expression.symbol(), extent),
                                 absl::StrCat("dimension ", d));
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

absl::Status SymbolTable::Evaluate(absl::Span<const uint32_t> expressions) {
  for (const uint32_t index : expressions) {
    const v1::Expression& proto = manifest_.expressions(static_cast<int>(index));
    int64_t& result = expressions_[index];
    if (proto.has_constant()) {
      result = proto.constant();
    } else if (proto.has_symbol()) {
      result = symbols_[proto.symbol()].number;
    } else {
      const Operation& operation = proto.operation();
      const int64_t left = expressions_[operation.left()];
      const int64_t right = expressions_[operation.right()];
      if (Compute(operation.kind(), left, right, result)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "expression ", index, " has no result: ", Operation::Kind_Name(operation.kind()), " of ",
          left, " and ", right));
    }
  }
  return absl::OkStatus();
}

}  // namespace slipway
