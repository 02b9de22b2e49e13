#include "tests/bench/graph_operations.h"

#include <algorithm>

#include "core/base/status_macros.h"
#include "core/operators/convolution.h"
#include "core/operators/fused.h"
#include "core/operators/matrix.h"
#include "core/operators/recurrent.h"
#include "core/tensor/shape.h"

namespace slipway::bench {

absl::StatusOr<int64_t> CountOperations(const Graph& graph, const Node& node,
                                        const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, registry));
  const bool is_call = node.op == kCallOperator && view.RequireStatic().ok();
  if (node.op == kFusedOperator || is_call) {
    const Graph& body = view.Body(kFusedBody);
    int64_t total = 0;
    for (const Node& inner : body.nodes) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t operations, CountOperations(body, inner, registry));
      total += operations;
    }
    return total;
  }
  if (node.op == "Conv" || node.op == "slipway.ConvNCHWc" ||
      node.op == "slipway.DepthwiseConvNCHWc" || node.op == "slipway.WinogradConvNCHWc") {
    SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
    return 2 * std::max<int64_t>(conv.batch, 1) * conv.out_channels *
           (conv.in_channels / conv.group) * NumElements(conv.window.output) *
           NumElements(conv.window.kernel);
  }
  if (node.op == "Gemm" || node.op == "slipway.GemmPacked") {
    SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(view));
    return 2 * std::max<int64_t>(gemm.m, 1) * gemm.n * gemm.k;
  }
  if (node.op == "MatMul") {
    SLIPWAY_ASSIGN_OR_RETURN(const MatMulView product, DecodeMatMul(view));
    return 2 * NumElements(product.batch) * product.m * product.n * product.k;
  }
  if (node.op == "ConvTranspose") {
    // Each element of x with each of the weights of its group: [C, M / group, kernel...].
    const Shape& x = view.input_shape(0);
    return 2 * NumElements(x) * (NumElements(view.input_shape(1)) / x[1]);
  }
  if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN") {
    // Each step of each row with all weights of what comes in, and of the state.
    const Shape& x = view.input_shape(0);
    return 2 * x[0] * x[1] * (NumElements(view.input_shape(1)) + NumElements(view.input_shape(2)));
  }
  if (node.op == "slipway.LSTMSteps" || node.op == "slipway.GRUSteps" ||
      node.op == "slipway.RNNSteps") {
    SLIPWAY_ASSIGN_OR_RETURN(const RecurrentView recurrent, DecodeRecurrent(view));
    const Shape& sums = view.input_shape(0);
    const int64_t hidden = view.input_shape(1)[2];
    return 2 * sums[0] * sums[1] * static_cast<int64_t>(recurrent.reverse.size()) *
           recurrent.gates * hidden * hidden;
  }
  return 0;
}

absl::StatusOr<std::vector<int64_t>> OperationsOfSteps(const Graph& graph,
                                                       const OperatorRegistry& registry) {
  std::vector<int64_t> steps;
  for (const Node& node : graph.nodes) {
    if (registry.Find(node.op)->pattern != Pattern::kKernel) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t operations, CountOperations(graph, node, registry));
    steps.push_back(operations);
  }
  return steps;
}

}  // namespace slipway::bench
