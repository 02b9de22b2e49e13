// Names for extents that are not known, so that one is told from another.
#ifndef SLIPWAY_CORE_PASSES_OPEN_EXTENTS_H_
#define SLIPWAY_CORE_PASSES_OPEN_EXTENTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/graph/value_type.h"
#include "core/symbolic/evaluation.h"

namespace slipway {

// A symbol for an extent of a value called `name`, added to `symbols`. REQUIRES: symbols.size() < kMaxSymbols.
Expression AddExtentSymbol(absl::string_view name, std::vector<Symbol>& symbols);

// The type with a symbol of its own for each extent that is not known, as far as there may be more symbols.
ValueType WithNamedExtents(absl::string_view name, const ValueType& type,
                           std::vector<Symbol>& symbols);

// The type without extents that are made of symbols which are not among these: what lies around a loop or a branch sees no
// extent of what is inside.
ValueType WithoutOtherSymbols(const ValueType& type, const std::vector<Symbol>& symbols);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_OPEN_EXTENTS_H_
