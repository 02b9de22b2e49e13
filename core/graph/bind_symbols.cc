#include "core/graph/bind_symbols.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

absl::Status CheckValuesFit(const Graph& graph, const SymbolValues& values) {
  for (const Symbol& symbol : graph.symbols) {
    const auto found = values.find(symbol.name);
    if (found != values.end() && (found->second < symbol.min || found->second > symbol.max)) {
      return absl::InvalidArgumentError(absl::StrCat("symbol \"", symbol.name, "\" is ",
                                                     found->second, ", which is outside ",
                                                     symbol.min, "..", symbol.max));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueType> Bound(const ValueType& type, const SymbolExpressions& values) {
  Dimensions dimensions = type.dimensions();
  for (Dimension& dimension : dimensions) {
    if (dimension.is_unknown()) continue;
    SLIPWAY_ASSIGN_OR_RETURN(dimension, Substitute(dimension.expression(), values));
  }
  ValueType bound(type.dtype(), dimensions);
  bound.set_quantization(type.quantization());
  SLIPWAY_RETURN_IF_ERROR(CheckType(bound));
  return bound;
}

// Without the equalities that cannot hold any more; empty when one does, whatever the symbols that are left.
absl::StatusOr<std::vector<Equality>> Bound(const Constraint& constraint,
                                            const SymbolExpressions& values) {
  std::vector<Equality> left;
  for (const Equality& equality : constraint.any_of) {
    Equality bound;
    SLIPWAY_ASSIGN_OR_RETURN(bound.left, Substitute(equality.left, values));
    SLIPWAY_ASSIGN_OR_RETURN(bound.right, Substitute(equality.right, values));
    if (bound.left == bound.right) return std::vector<Equality>();
    if (bound.left.is_constant() && bound.right.is_constant()) continue;
    left.push_back(std::move(bound));
  }
  if (!left.empty()) return left;
  return absl::InvalidArgumentError(
      absl::StrCat(constraint.user, " needs ", ToString(constraint), ", which cannot be"));
}

absl::StatusOr<Graph> Bind(Graph graph, const SymbolExpressions& values) {
  std::erase_if(graph.symbols, [&](const Symbol& symbol) { return values.contains(symbol.name); });
  std::vector<Constraint> constraints;
  for (Constraint& constraint : graph.constraints) {
    SLIPWAY_ASSIGN_OR_RETURN(constraint.any_of, Bound(constraint, values));
    if (!constraint.any_of.empty()) constraints.push_back(std::move(constraint));
  }
  graph.constraints = std::move(constraints);
  for (Value& value : graph.values) {
    if (!value.type.has_value() || value.type->is_static()) continue;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(value.type, Bound(*value.type, values),
                                  absl::StrCat("value \"", value.name, "\""));
  }
  for (Node& node : graph.nodes) {
    const Attributes attributes = node.attributes;
    for (const auto& [name, attribute] : attributes) {
      if (KindOf(attribute) != AttributeKind::kGraph) continue;
      SLIPWAY_ASSIGN_OR_RETURN(Graph body,
                               Bind(*std::get<std::shared_ptr<const Graph>>(attribute), values));
      node.attributes.Set(name, std::make_shared<const Graph>(std::move(body)));
    }
  }
  return graph;
}

}  // namespace

absl::StatusOr<Graph> BindSymbols(Graph graph, const SymbolValues& values) {
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckValuesFit(graph, values),
                               absl::StrCat("graph \"", graph.name, "\""));
  return Bind(std::move(graph), SymbolExpressions(values.begin(), values.end()));
}

absl::Status CheckStatic(const Graph& graph, absl::string_view user) {
  for (const Value& value : graph.values) {
    if (!value.type.has_value() || value.type->is_static()) continue;
    return absl::UnimplementedError(absl::StrCat("value \"", value.name, "\" is ",
                                                 ToString(*value.type), ": ", user,
                                                 " needs extents that are known"));
  }
  return absl::OkStatus();
}

}  // namespace slipway
