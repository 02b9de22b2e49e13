#include "core/passes/open_extents.h"

#include <algorithm>
#include <cmath>

namespace slipway {
namespace {

// What each open extent of the type may be so that their product, with the known ones, stays within 2^56 bytes.
int64_t MostOfEach(const ValueType& type) {
  double left = std::ldexp(1.0, 56) / static_cast<double>(ByteSize(type.dtype()));
  int open = 0;
  for (const Dimension& dimension : type.dimensions()) {
    if (dimension.is_known()) {
      left /= static_cast<double>(std::max<int64_t>(dimension.extent(), 1));
    } else {
      ++open;
    }
  }
  const double most = std::floor(std::pow(left, 1.0 / std::max(open, 1)));
  return static_cast<int64_t>(std::clamp<double>(most, 1, kMaxSymbolValue));
}

}  // namespace

Expression AddExtentSymbol(absl::string_view name, const ValueType& type,
                           std::vector<Symbol>& symbols) {
  const std::string unique = UniqueSymbolName(name, symbols);
  symbols.push_back({unique, 0, MostOfEach(type)});
  return Expression::Symbol(unique).value();
}

ValueType WithNamedExtents(absl::string_view name, const ValueType& type,
                           std::vector<Symbol>& symbols) {
  Dimensions dimensions = type.dimensions();
  for (Dimension& dimension : dimensions) {
    if (!dimension.is_unknown() || symbols.size() >= kMaxSymbols) continue;
    dimension = AddExtentSymbol(name, type, symbols);
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
