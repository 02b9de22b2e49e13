#include "core/passes/narrow_symbols.h"

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

bool HasWindow(const OperatorSchema& schema) {
  return schema.layout.role == LayoutRole::kConvolution ||
         schema.layout.role == LayoutRole::kWindow;
}

// Whether the expression may be 1 or more while `symbol` is `most` at most. True where that is not seen.
bool MayBePositive(const Expression& expression, std::vector<Symbol> symbols,
                   const std::string& symbol, int64_t most) {
  for (Symbol& one : symbols) {
    if (one.name == symbol) one.max = most;
  }
  const auto bounds = BoundsOf(expression, symbols);
  return !bounds.ok() || bounds->max >= 1;
}

// The least value of `symbol` with which the expression may be 1 or more, which with `symbol.max` it may.
int64_t Least(const Expression& expression, const std::vector<Symbol>& symbols,
              const Symbol& symbol) {
  int64_t least = symbol.min;
  int64_t fits = symbol.max;
  if (MayBePositive(expression, symbols, symbol.name, least)) return least;
  while (fits - least > 1) {
    const int64_t middle = least + (fits - least) / 2;
    (MayBePositive(expression, symbols, symbol.name, middle) ? fits : least) = middle;
  }
  return fits;
}

}  // namespace

absl::StatusOr<bool> NarrowSymbols(const Graph& graph, const OperatorRegistry& registry,
                                   std::vector<Symbol>& symbols) {
  bool narrowed = false;
  for (const Node& node : graph.nodes) {
    const OperatorSchema* schema = registry.Find(node.op);
    if (schema == nullptr || !HasWindow(*schema)) continue;
    const ValueType& type = *graph.values[node.outputs[0]].type;
    for (int d = 2; d < type.rank(); ++d) {
      const Dimension& extent = type.dimension(d);
      if (extent.is_known() || extent.is_unknown()) continue;
      const auto bounds = BoundsOf(extent.expression(), graph.symbols);
      if (bounds.ok() && bounds->max < 1) {
        return absl::InvalidArgumentError(absl::StrCat(
            "node \"", DisplayName(graph, node), "\" (", node.op,
            "): the window fits into dimension ", d, " of no input: of ", ToString(extent),
            " places there are ", bounds->max, " at most; allow larger extents"));
      }
      for (Symbol& symbol : symbols) {
        const int64_t least = Least(extent.expression(), graph.symbols, symbol);
        narrowed |= least > symbol.min;
        symbol.min = least;
      }
    }
  }
  return narrowed;
}

}  // namespace slipway
