#include "core/passes/infer_type_pass.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/body_types.h"
#include "core/passes/constant_node.h"
#include "core/passes/inline_branch.h"
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

// `nodes_left` bounds how many nodes of bodies are looked at, since loops within loops are inferred again and again.
absl::StatusOr<Graph> Infer(Graph graph, const PassContext& context, int64_t& nodes_left) {
  const auto infer_body = [&](Graph body) -> absl::StatusOr<Graph> {
    nodes_left -= static_cast<int64_t>(body.nodes.size());
    if (nodes_left >= 0) return Infer(std::move(body), context, nodes_left);
    return absl::ResourceExhaustedError(
        absl::StrCat("the types in bodies hang on each other in more than the limit of ",
                     kMaxInferredBodyNodes, " steps"));
  };
  for (const ValueId id : graph.inputs) {
    if (graph.values[id].type.has_value()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("graph input \"", graph.values[id].name,
                     "\" has no type: state its element type and shape in the model"));
  }
  std::vector<Node> kept;
  UniqueNames names(graph);
  std::vector<Node> waiting(std::make_move_iterator(graph.nodes.rbegin()),
                            std::make_move_iterator(graph.nodes.rend()));  // The next one last.
  while (!waiting.empty()) {
    Node node = std::move(waiting.back());
    waiting.pop_back();
    if (auto nodes = InlineKnownBranch(node, context.registry, graph, names)) {
      waiting.insert(waiting.end(), std::make_move_iterator(nodes->rbegin()),
                     std::make_move_iterator(nodes->rend()));
      continue;
    }
    SLIPWAY_RETURN_IF_ERROR(InferBodyTypes(graph, node, context.registry, infer_body));
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
      if (!IsLeftToRunTime(results.status())) return results.status();
    }
    kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  DropUnusedValues(graph);
  return graph;
}

}  // namespace

absl::StatusOr<Graph> InferType(Graph graph, const PassContext& context) {
  int64_t nodes_left = kMaxInferredBodyNodes;
  return Infer(std::move(graph), context, nodes_left);
}

}  // namespace slipway
