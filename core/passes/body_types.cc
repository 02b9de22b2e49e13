#include "core/passes/body_types.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/captures.h"
#include "core/passes/limits.h"
#include "core/passes/open_extents.h"

namespace slipway {
namespace {

using TypesByBody = std::map<std::string, std::vector<ValueType>>;

ValueType WithoutExtents(const ValueType& type) {
  return ValueType(type.dtype(), Dimensions(type.rank()));
}

// What the node gives its bodies, as far as theirs are known.
absl::StatusOr<TypesByBody> GivenTypes(const Graph& graph, const Node& node,
                                       const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, registry));
  SLIPWAY_RETURN_IF_ERROR(CheckBodyInputs(view));
  TypesByBody types;
  for (const auto& [name, value] : node.attributes) {
    if (KindOf(value) != AttributeKind::kGraph) continue;
    SLIPWAY_ASSIGN_OR_RETURN(types[name], view.schema().body_rule(view, name));
  }
  return types;
}

// Makes `types` include `more`. Whether that changed an extent.
bool Widen(const TypesByBody& more, TypesByBody& types) {
  bool wider = false;
  for (auto& [name, list] : types) {
    for (size_t i = 0; i < list.size(); ++i) {
      // A body rule gives the same element types and ranks every time.
      const ValueType joined = Join(list[i], more.at(name)[i]).value_or(WithoutExtents(list[i]));
      if (joined.dimensions() == list[i].dimensions()) continue;
      list[i] = joined;
      wider = true;
    }
  }
  return wider;
}

}  // namespace

absl::Status InferBodyTypes(Graph& graph, Node& node, const OperatorRegistry& registry,
                            const BodyRewrite& infer) {
  const OperatorSchema* schema = registry.Find(node.op);
  if (schema == nullptr || schema->body_rule == nullptr) return absl::OkStatus();
  SinkConstants(graph, node);
  const Node given = node;
  const std::vector<Symbol> around = graph.symbols;
  SLIPWAY_ASSIGN_OR_RETURN(TypesByBody types, GivenTypes(graph, given, registry));
  for (int round = 1;; ++round) {
    node = given;
    std::vector<Symbol> symbols = around;
    SLIPWAY_RETURN_IF_ERROR(RewriteBodiesOf(
        graph, node, registry, [&](const std::string& name, Graph body) -> absl::StatusOr<Graph> {
          for (size_t i = 0; i < body.inputs.size(); ++i) {
            Value& input = body.values[body.inputs[i]];
            RefineType(input, WithNamedExtents(input.name, types.at(name)[i], symbols));
          }
          body.symbols = symbols;
          SLIPWAY_ASSIGN_OR_RETURN(body, infer(std::move(body)));
          symbols = body.symbols;
          return body;
        }));
    graph.symbols = symbols;
    SLIPWAY_ASSIGN_OR_RETURN(TypesByBody made, GivenTypes(graph, node, registry));
    for (auto& [name, list] : made) {
      for (ValueType& type : list) type = WithoutOtherSymbols(type, around);
    }
    if (!Widen(made, types)) return absl::OkStatus();
    if (round < kMaxWideningRounds) continue;
    for (auto& [name, list] : types) {
      for (ValueType& type : list) type = WithoutExtents(type);
    }
  }
}

}  // namespace slipway
