#include "core/passes/fold_constant_pass.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/passes/constant_node.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/limits.h"

namespace slipway {
namespace {

// Absent where an output's extents are not known.
std::optional<int64_t> OutputBytes(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    if (!graph.values[id].type->is_static()) return std::nullopt;
    bytes += graph.values[id].type->byte_size();
  }
  return bytes;
}

absl::StatusOr<Graph> Fold(Graph graph, const PassContext& context, bool quantized_too) {
  // What is dead must not be evaluated.
  SLIPWAY_ASSIGN_OR_RETURN(graph, DeadCode(std::move(graph), context));
  std::vector<Node> kept;
  int64_t bytes_left = kMaxFoldedBytes;
  for (Node& node : graph.nodes) {
    if (!IsConstantNode(graph, node, context.registry) ||
        (!quantized_too && IsDequantizedConstant(graph, node))) {
      kept.push_back(std::move(node));
      continue;
    }
    if (std::optional<Tensor> moved = MovedConstant(graph, node, context)) {
      MakeOutputsConstant(node, {*std::move(moved)}, graph);
      continue;
    }
    const std::optional<int64_t> bytes = OutputBytes(graph, node);
    if (bytes.value_or(INT64_MAX) > bytes_left) {
      kept.push_back(std::move(node));
      continue;
    }
    absl::StatusOr<std::vector<Tensor>> results = EvaluateConstantNode(graph, node, context);
    if (IsLeftToRunTime(results.status())) {
      kept.push_back(std::move(node));
      continue;
    }
    SLIPWAY_RETURN_IF_ERROR(results.status());
    bytes_left -= *bytes;
    MakeOutputsConstant(node, *std::move(results), graph);
  }
  graph.nodes = std::move(kept);
  return DeadCode(std::move(graph), context);
}

}  // namespace

absl::StatusOr<Graph> FoldConstant(Graph graph, const PassContext& context) {
  return Fold(std::move(graph), context, /*quantized_too=*/true);
}

absl::StatusOr<Graph> FoldConstantButQuantized(Graph graph, const PassContext& context) {
  return Fold(std::move(graph), context, /*quantized_too=*/false);
}

}  // namespace slipway
