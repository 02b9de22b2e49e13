#include "core/passes/narrow_symbols.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

bool Mentions(const Expression& expression, const std::string& symbol) {
  if (expression.kind() == Expression::Kind::kSymbol) return expression.symbol() == symbol;
  const auto operands = expression.operands();
  return std::any_of(operands.begin(), operands.end(),
                     [&](const Expression& operand) { return Mentions(operand, symbol); });
}

bool HasWindow(const OperatorSchema& schema) {
  return schema.layout.role == LayoutRole::kConvolution ||
         schema.layout.role == LayoutRole::kWindow;
}

// Whether something may hold for values of the symbols within their bounds: for narrower bounds only what does for wider
// ones. True where the opposite is not seen.
using Condition = std::function<bool(const std::vector<Symbol>&)>;

Condition MayBePositive(const Expression& expression) {
  return [&expression](const std::vector<Symbol>& symbols) {
    const auto bounds = BoundsOf(expression, symbols);
    return !bounds.ok() || bounds->max >= 1;
  };
}

Condition MayHold(const Equality& equality) {
  return [&equality](const std::vector<Symbol>& symbols) {
    const auto left = BoundsOf(equality.left, symbols);
    const auto right = BoundsOf(equality.right, symbols);
    return !left.ok() || !right.ok() || (left->min <= right->max && right->min <= left->max);
  };
}

// The first value in [first, last] of which `holds` is true, which it is of the last, and of all behind one of which it is.
int64_t FirstThat(int64_t first, int64_t last, const std::function<bool(int64_t)>& holds) {
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if (holds(middle)) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return last;
}

// Takes values from both ends of the symbol's bounds, it is one of `symbols`, with which the condition cannot hold. Whether
// there were any.
bool Narrow(const Condition& condition, std::vector<Symbol>& symbols, Symbol& symbol) {
  const Symbol whole = symbol;
  const int64_t min = FirstThat(whole.min, whole.max, [&](int64_t most) {
    symbol.max = most;
    return condition(symbols);
  });
  symbol.max = whole.max;
  const int64_t max = -FirstThat(-whole.max, -whole.min, [&](int64_t least) {
    symbol.min = -least;
    return condition(symbols);
  });
  symbol.min = min;
  symbol.max = max;
  return symbol != whole;
}

// What one equality takes away another may see.
constexpr int kMaxRounds = 16;

std::string BoundsText(const std::vector<Symbol>& symbols) {
  return absl::StrJoin(symbols, ", ", [](std::string* out, const Symbol& symbol) {
    absl::StrAppend(out, symbol.name, " in ", symbol.min, "..", symbol.max);
  });
}

// To where the windows of the node may have a place.
absl::Status NarrowToWindows(const Graph& graph, const Node& node, std::vector<Symbol>& symbols) {
  const ValueType& type = *graph.values[node.outputs[0]].type;
  for (int d = 2; d < type.rank(); ++d) {
    const Dimension& extent = type.dimension(d);
    if (extent.is_known() || extent.is_unknown()) continue;
    const auto bounds = BoundsOf(extent.expression(), symbols);
    if (bounds.ok() && bounds->max < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "node \"", DisplayName(graph, node), "\" (", node.op,
          "): the window fits into dimension ", d, " of no input: of ", ToString(extent),
          " places there are ", bounds->max, " at most; allow larger extents"));
    }
    for (Symbol& symbol : symbols) {
      if (Mentions(extent.expression(), symbol.name)) {
        Narrow(MayBePositive(extent.expression()), symbols, symbol);
      }
    }
  }
  return absl::OkStatus();
}

// To where the equality may hold. Whether symbols were narrowed.
absl::StatusOr<bool> NarrowToEquality(const Constraint& constraint, std::vector<Symbol>& symbols) {
  const Equality& equality = constraint.any_of[0];
  const Condition may_hold = MayHold(equality);
  if (!may_hold(symbols)) {
    return absl::InvalidArgumentError(absl::StrCat(constraint.user, " needs ", ToString(constraint),
                                                   ", which no inputs do: ", BoundsText(symbols)));
  }
  bool narrowed = false;
  for (Symbol& symbol : symbols) {
    if (!Mentions(equality.left, symbol.name) && !Mentions(equality.right, symbol.name)) continue;
    narrowed |= Narrow(may_hold, symbols, symbol);
  }
  return narrowed;
}

}  // namespace

absl::StatusOr<std::vector<Symbol>> NarrowedSymbols(const Graph& graph,
                                                    const OperatorRegistry& registry) {
  std::vector<Symbol> symbols = graph.symbols;
  for (const Node& node : graph.nodes) {
    const OperatorSchema* schema = registry.Find(node.op);
    if (schema == nullptr || !HasWindow(*schema)) continue;
    SLIPWAY_RETURN_IF_ERROR(NarrowToWindows(graph, node, symbols));
  }
  bool narrowed = true;
  for (int round = 0; round < kMaxRounds && narrowed; ++round) {
    narrowed = false;
    for (const Constraint& constraint : graph.constraints) {
      if (constraint.any_of.size() > 1) continue;
      SLIPWAY_ASSIGN_OR_RETURN(const bool more, NarrowToEquality(constraint, symbols));
      narrowed |= more;
    }
  }
  return symbols;
}

}  // namespace slipway
