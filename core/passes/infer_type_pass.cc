#include "core/passes/infer_type_pass.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/bodies.h"
#include "core/passes/constant_node.h"
#include "core/passes/limits.h"

namespace slipway {
namespace {

absl::Status SetType(const Node& node, ValueId id, const ValueType& type, Graph& graph) {
  Value& value = graph.values[id];
  if (value.type.has_value() && Contradict(*value.type, type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("node \"", DisplayName(graph, node), "\" (", node.op, ") makes \"", value.name,
                     "\" of type ", ToString(type), ", but the model states ",
                     ToString(*value.type), "; correct one of the two"));
  }
  RefineType(value, type);
  return absl::OkStatus();
}

// By now everything that can be known is: what a rule still lacks comes from the caller's inputs.
absl::Status NotDynamic(const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status)) return status;
  return absl::UnimplementedError(
      absl::StrCat(status.message(), "; what depends on the values of inputs is not supported"));
}

// Shape arithmetic: small inputs, small results.
bool IsSmall(const Graph& graph, const Node& node, const OperatorRegistry& registry) {
  const auto small = [&graph](ValueId id) {
    if (id == kNoValue) return true;
    const ValueType& type = *graph.values[id].type;
    return type.is_static() && type.byte_size() <= kMaxShapeArithmeticBytes;
  };
  return (registry.Find(node.op)->reads_types_only ||
          std::all_of(node.inputs.begin(), node.inputs.end(), small)) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), small);
}

// A node's ordinary bodies: their inputs have the types that the node gives, the rest follows.
absl::Status InferBodies(const Graph& graph, const PassContext& context, Node& node) {
  const Node given = node;
  const OperatorSchema* schema = context.registry.Find(node.op);
  if (schema == nullptr || schema->body_rule == nullptr) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, given, context.registry));
  SLIPWAY_RETURN_IF_ERROR(CheckBodyInputs(view));
  return RewriteBodiesOf(graph, node, context.registry,
                         [&](const std::string& name, Graph body) -> absl::StatusOr<Graph> {
                           SLIPWAY_ASSIGN_OR_RETURN(const std::vector<ValueType> types,
                                                    schema->body_rule(view, name));
                           body.symbols = graph.symbols;  // Those of its inputs' types.
                           for (size_t i = 0; i < types.size(); ++i) {
                             RefineType(body.values[body.inputs[i]], types[i]);
                           }
                           return InferType(std::move(body), context);
                         });
}

}  // namespace

absl::StatusOr<Graph> InferType(Graph graph, const PassContext& context) {
  for (const ValueId id : graph.inputs) {
    if (graph.values[id].type.has_value()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("graph input \"", graph.values[id].name,
                     "\" has no type: state its element type and shape in the model"));
  }
  std::vector<Node> kept;
  for (Node& node : graph.nodes) {
    SLIPWAY_RETURN_IF_ERROR(InferBodies(graph, context, node));
    const absl::StatusOr<std::vector<ValueType>> types =
        InferNodeTypes(graph, node, context.registry);
    if (!types.ok()) return NotDynamic(types.status());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      SLIPWAY_RETURN_IF_ERROR(SetType(node, node.outputs[i], (*types)[i], graph));
    }
    if (IsConstantNode(graph, node, context.registry) && IsSmall(graph, node, context.registry)) {
      absl::StatusOr<std::vector<Tensor>> results = EvaluateConstantNode(graph, node, context);
      if (results.ok()) {
        MakeOutputsConstant(node, *std::move(results), graph);
        continue;
      }
      if (!absl::IsUnimplemented(results.status())) return results.status();
    }
    kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  DropUnusedValues(graph);
  return graph;
}

}  // namespace slipway
