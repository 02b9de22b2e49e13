// From a graph with symbols to one without.
#ifndef SLIPWAY_CORE_GRAPH_BIND_SYMBOLS_H_
#define SLIPWAY_CORE_GRAPH_BIND_SYMBOLS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/symbolic/evaluation.h"

namespace slipway {

// The graph with every symbol replaced by its value, in bodies too; extents that are not known stay
// so. INVALID_ARGUMENT for a symbol without value or beyond its bounds; errors of Evaluate and
// CheckType, which name the value whose extent it is.
absl::StatusOr<Graph> BindSymbols(Graph graph, const SymbolValues& values);

// OK when the extents of all values with types are known. UNIMPLEMENTED names the value, its type
// and `user`, which cannot do without.
absl::Status CheckStatic(const Graph& graph, absl::string_view user);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_BIND_SYMBOLS_H_
