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
    if (found == values.end()) {
      return absl::InvalidArgumentError(absl::StrCat("symbol \"", symbol.name, "\" has no value"));
    }
    if (found->second < symbol.min || found->second > symbol.max) {
      return absl::InvalidArgumentError(absl::StrCat("symbol \"", symbol.name, "\" is ",
                                                     found->second, ", which is outside ",
                                                     symbol.min, "..", symbol.max));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueType> Bound(const ValueType& type, const SymbolValues& values) {
  Dimensions dimensions = type.dimensions();
  for (Dimension& dimension : dimensions) {
    if (dimension.is_unknown()) continue;
    SLIPWAY_ASSIGN_OR_RETURN(dimension, Evaluate(dimension.expression(), values));
  }
  ValueType bound(type.dtype(), dimensions);
  bound.set_quantization(type.quantization());
  SLIPWAY_RETURN_IF_ERROR(CheckType(bound));
  return bound;
}

}  // namespace

absl::StatusOr<Graph> BindSymbols(Graph graph, const SymbolValues& values) {
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckValuesFit(graph, values),
                               absl::StrCat("graph \"", graph.name, "\""));
  for (const Constraint& constraint : graph.constraints) {
    SLIPWAY_RETURN_IF_ERROR(CheckHolds(constraint, values));
  }
  graph.symbols.clear();
  graph.constraints.clear();
  for (Value& value : graph.values) {
    if (!value.type.has_value() || value.type->is_static()) continue;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(value.type, Bound(*value.type, values),
                                  absl::StrCat("value \"", value.name, "\""));
  }
  for (Node& node : graph.nodes) {
    const Attributes attributes = node.attributes;
    for (const auto& [name, attribute] : attributes) {
      if (KindOf(attribute) != AttributeKind::kGraph) continue;
      SLIPWAY_ASSIGN_OR_RETURN(
          Graph body, BindSymbols(*std::get<std::shared_ptr<const Graph>>(attribute), values));
      node.attributes.Set(name, std::make_shared<const Graph>(std::move(body)));
    }
  }
  return graph;
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
