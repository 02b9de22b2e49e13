#include "core/passes/narrow_symbols.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

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

// Takes `size` from `steps` each time.
Condition Counted(Condition condition, int64_t size, int64_t& steps) {
  return [condition = std::move(condition), size, &steps](const std::vector<Symbol>& symbols) {
    steps -= size;
    return condition(symbols);
  };
}

// The first value in [first, last] of which `holds` is true, which it is of the last, and of all behind one of which it is.
int64_t FirstThat(int64_t first, int64_t last, const std::function<bool(int64_t)>& holds) {
  if (holds(first)) return first;  // As most do.
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

// What one equality takes away another may see. Bounds that are wider than need be are no fault, so that there is an end to
// it: how often, and of how many nodes of expressions, it is seen whether something may hold.
constexpr int kMaxRounds = 16;
constexpr int64_t kMaxSteps = 1 << 20;

std::string BoundsText(const std::vector<Symbol>& symbols) {
  return absl::StrJoin(symbols, ", ", [](std::string* out, const Symbol& symbol) {
    absl::StrAppend(out, symbol.name, " in ", symbol.min, "..", symbol.max);
  });
}

// To where the windows of the node may have a place. Takes from `steps` what it needs, as all below.
absl::Status NarrowToWindows(const Graph& graph, const Node& node, std::vector<Symbol>& symbols,
                             int64_t& steps) {
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
    const Expression places = extent.expression();
    const Condition may_fit = Counted(MayBePositive(places), places.size(), steps);
    for (Symbol& symbol : symbols) {
      if (steps > 0 && Mentions(places, symbol.name)) Narrow(may_fit, symbols, symbol);
    }
  }
  return absl::OkStatus();
}

// To where the equality may hold. Whether symbols were narrowed.
absl::StatusOr<bool> NarrowToEquality(const Constraint& constraint, std::vector<Symbol>& symbols,
                                      int64_t& steps) {
  const Equality& equality = constraint.any_of[0];
  const Condition may_hold =
      Counted(MayHold(equality), equality.left.size() + equality.right.size(), steps);
  if (!may_hold(symbols)) {
    return absl::InvalidArgumentError(absl::StrCat(constraint.user, " needs ", ToString(constraint),
                                                   ", which no inputs do: ", BoundsText(symbols)));
  }
  bool narrowed = false;
  for (Symbol& symbol : symbols) {
    if (steps <= 0) break;
    if (!Mentions(equality.left, symbol.name) && !Mentions(equality.right, symbol.name)) continue;
    narrowed |= Narrow(may_hold, symbols, symbol);
  }
  return narrowed;
}

}  // namespace

absl::StatusOr<std::vector<Symbol>> NarrowedSymbols(const Graph& graph,
                                                    const OperatorRegistry& registry) {
  std::vector<Symbol> symbols = graph.symbols;
  int64_t steps = kMaxSteps;
  for (const Node& node : graph.nodes) {
    const OperatorSchema* schema = registry.Find(node.op);
    if (schema == nullptr || !HasWindow(*schema)) continue;
    SLIPWAY_RETURN_IF_ERROR(NarrowToWindows(graph, node, symbols, steps));
  }
  bool narrowed = true;
  for (int round = 0; round < kMaxRounds && narrowed; ++round) {
    narrowed = false;
    for (const Constraint& constraint : graph.constraints) {
      if (constraint.any_of.size() > 1) continue;
      SLIPWAY_ASSIGN_OR_RETURN(const bool more, NarrowToEquality(constraint, symbols, steps));
      narrowed |= more;
    }
  }
  return symbols;
}

}  // namespace slipway
