#include "tests/bench/model_cost.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/node_cost.h"

namespace slipway::bench {
namespace {

int64_t BytesOfConstants(const Graph& graph) {
  std::vector<bool> read(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool picks = node.op == "Gather" && i == 0;
      if (node.inputs[i] != kNoValue && !picks) read[node.inputs[i]] = true;
    }
  }
  int64_t bytes = 0;
  for (size_t id = 0; id < read.size(); ++id) {
    const auto& constant = graph.values[id].constant;
    if (read[id] && constant.has_value()) bytes += constant->byte_size();
  }
  return bytes;
}

absl::StatusOr<int64_t> BytesOf(const Graph& graph, const std::vector<ValueId>& values) {
  int64_t bytes = 0;
  for (const ValueId id : values) {
    const Value& value = graph.values[id];
    if (!value.type.has_value() || !value.type->is_static()) {
      return absl::UnimplementedError(absl::StrCat("\"", value.name, "\" has open extents"));
    }
    bytes += value.type->tensor().byte_size();
  }
  return bytes;
}

}  // namespace

absl::StatusOr<ModelCost> CostOf(Graph graph, const PassContext& context) {
  ModelCost cost;
  cost.constant_bytes = BytesOfConstants(graph);
  SLIPWAY_ASSIGN_OR_RETURN(graph, InferType(std::move(graph), context));
  SLIPWAY_ASSIGN_OR_RETURN(cost.input_bytes, BytesOf(graph, graph.inputs));
  SLIPWAY_ASSIGN_OR_RETURN(cost.output_bytes, BytesOf(graph, graph.outputs));
  for (const Node& node : graph.nodes) {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t operations, ProductFlops(graph, node, context.registry));
    cost.operations += operations;
  }
  return cost;
}

}  // namespace slipway::bench
