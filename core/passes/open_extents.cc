#include "core/passes/open_extents.h"

namespace slipway {

Expression AddExtentSymbol(absl::string_view name, std::vector<Symbol>& symbols) {
  const std::string unique = UniqueSymbolName(name, symbols);
  symbols.push_back({unique});
  return Expression::Symbol(unique).value();
}

ValueType WithNamedExtents(absl::string_view name, const ValueType& type,
                           std::vector<Symbol>& symbols) {
  Dimensions dimensions = type.dimensions();
  for (Dimension& dimension : dimensions) {
    if (!dimension.is_unknown() || symbols.size() >= kMaxSymbols) continue;
    dimension = AddExtentSymbol(name, symbols);
  }
  return ValueType(type.dtype(), dimensions);
}

ValueType WithoutOtherSymbols(const ValueType& type, const std::vector<Symbol>& symbols) {
  Dimensions dimensions = type.dimensions();
  for (Dimension& dimension : dimensions) {
    if (dimension.is_known() || dimension.is_unknown()) continue;
    if (!CheckSymbolsKnown(dimension.expression(), symbols).ok()) dimension = Dimension();
  }
  return ValueType(type.dtype(), dimensions);
}

}  // namespace slipway
