// From a graph with symbols to one with fewer, or none.
#ifndef SLIPWAY_CORE_GRAPH_BIND_SYMBOLS_H_
#define SLIPWAY_CORE_GRAPH_BIND_SYMBOLS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/symbolic/evaluation.h"

namespace slipway {

// The graph with symbols replaced by their values, in bodies too; those without a value stay, and extents that are not
// known. INVALID_ARGUMENT for a symbol beyond its bounds and a constraint that cannot hold any more; errors of Substitute and
// CheckType, which name the value whose extent it is.
absl::StatusOr<Graph> BindSymbols(Graph graph, const SymbolValues& values);

// OK when the extents of all values with types are known. UNIMPLEMENTED names the value, its type
// and `user`, which cannot do without.
absl::Status CheckStatic(const Graph& graph, absl::string_view user);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_BIND_SYMBOLS_H_
