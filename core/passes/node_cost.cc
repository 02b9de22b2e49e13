#include "core/passes/node_cost.h"

#include <algorithm>

namespace slipway {
namespace {

double Elements(const Graph& graph, ValueId id) {
  return id == kNoValue ? 0 : static_cast<double>(graph.values[id].type->num_elements());
}

const Shape& ShapeOf(const Graph& graph, ValueId id) { return graph.values[id].type->shape(); }

}  // namespace

double NodeFlops(const Graph& graph, const Node& node) {
  if (node.op == "Conv" || node.op == "ConvTranspose") {
    // Each element of the output (of the input) meets the weights of its channel.
    const ValueId met = node.op == "Conv" ? node.outputs[0] : node.inputs[0];
    const Shape& weights = ShapeOf(graph, node.inputs[1]);
    return 2 * Elements(graph, met) * Elements(graph, node.inputs[1]) /
           static_cast<double>(std::max<int64_t>(weights[0], 1));
  }
  if (node.op == "MatMul" || node.op == "Gemm") {
    const Shape& a = ShapeOf(graph, node.inputs[0]);
    const auto* transposed = node.attributes.FindAs<int64_t>("transA");
    const bool first = node.op == "Gemm" && transposed != nullptr && *transposed != 0;
    return 2 * Elements(graph, node.outputs[0]) * static_cast<double>(first ? a.front() : a.back());
  }
  double most = 0;
  for (const ValueId id : node.inputs) most = std::max(most, Elements(graph, id));
  for (const ValueId id : node.outputs) most = std::max(most, Elements(graph, id));
  return most;
}

int64_t OutputBytes(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) bytes += graph.values[id].type->byte_size();
  }
  return bytes;
}

}  // namespace slipway
