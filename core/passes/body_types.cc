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

absl::Status InferBodyTypes(const Graph& graph, Node& node, const OperatorRegistry& registry,
                            const BodyRewrite& infer) {
  const OperatorSchema* schema = registry.Find(node.op);
  if (schema == nullptr || schema->body_rule == nullptr) return absl::OkStatus();
  SinkConstants(graph, node);
  const Node given = node;
  SLIPWAY_ASSIGN_OR_RETURN(TypesByBody types, GivenTypes(graph, given, registry));
  for (int round = 1;; ++round) {
    node = given;
    SLIPWAY_RETURN_IF_ERROR(RewriteBodiesOf(
        graph, node, registry, [&](const std::string& name, Graph body) -> absl::StatusOr<Graph> {
          body.symbols = graph.symbols;  // Those of its inputs' types.
          for (size_t i = 0; i < body.inputs.size(); ++i) {
            RefineType(body.values[body.inputs[i]], types.at(name)[i]);
          }
          return infer(std::move(body));
        }));
    SLIPWAY_ASSIGN_OR_RETURN(const TypesByBody made, GivenTypes(graph, node, registry));
    if (!Widen(made, types)) return absl::OkStatus();
    if (round < kMaxWideningRounds) continue;
    for (auto& [name, list] : types) {
      for (ValueType& type : list) type = WithoutExtents(type);
    }
  }
}

}  // namespace slipway
