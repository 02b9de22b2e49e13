#include "core/passes/node_cost.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/attention.h"
#include "core/operators/convolution.h"
#include "core/operators/fused.h"
#include "core/operators/matrix.h"
#include "core/operators/recurrent.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

int64_t ElementsOfOutput(const Graph& graph, const Node& node) {
  return graph.values[node.outputs[0]].type->num_elements();
}

// How many numbers meet how many weights, times two. Of a node whose extents are known.
using CountFunction = absl::StatusOr<int64_t> (*)(const Graph& graph, const Node& node,
                                                  const NodeView& view);

absl::StatusOr<int64_t> CountConv(const Graph&, const Node&, const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  return 2 * std::max<int64_t>(conv.batch, 1) * conv.out_channels *
         (conv.in_channels / conv.group) * NumElements(conv.window.output) *
         NumElements(conv.window.kernel);
}

// Each element of the output, with the weights of its channel.
template <int kWeights>
absl::StatusOr<int64_t> CountQuantizedConv(const Graph& graph, const Node& node,
                                           const NodeView& view) {
  const Shape& weights = view.input_shape(kWeights);
  return 2 * ElementsOfOutput(graph, node) * NumElements(weights) /
         std::max<int64_t>(weights[0], 1);
}

// Each element of x, with the weights of its group: [C, M / group, kernel...].
absl::StatusOr<int64_t> CountConvTranspose(const Graph&, const Node&, const NodeView& view) {
  const Shape& x = view.input_shape(0);
  return 2 * NumElements(x) * (NumElements(view.input_shape(1)) / std::max<int64_t>(x[1], 1));
}

absl::StatusOr<int64_t> CountGemm(const Graph&, const Node&, const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(view));
  return 2 * std::max<int64_t>(gemm.m, 1) * gemm.n * gemm.k;
}

absl::StatusOr<int64_t> CountMatMul(const Graph&, const Node&, const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const MatMulView product, DecodeMatMul(view));
  return 2 * NumElements(product.batch) * product.m * product.n * product.k;
}

absl::StatusOr<int64_t> CountQuantizedMatMul(const Graph& graph, const Node& node,
                                             const NodeView& view) {
  return 2 * ElementsOfOutput(graph, node) * view.input_shape(0).back();
}

// Queries with keys, and weights of keys with values.
absl::StatusOr<int64_t> CountAttention(const Graph& graph, const Node& node, const NodeView& view) {
  constexpr int kPastKey = 4;
  const Shape& key = view.input_shape(1);
  int64_t keys = key[key.size() - 2];
  if (view.has_input(kPastKey)) keys += view.input_shape(kPastKey)[2];
  return 2 * (NumElements(view.input_shape(0)) + ElementsOfOutput(graph, node)) * keys;
}

absl::StatusOr<int64_t> CountBlockAttention(const Graph&, const Node&, const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockAttentionView attention, DecodeBlockAttention(view));
  const auto extent = [&](BlockOperand operand, BlockAxis axis) -> int64_t {
    const std::vector<int64_t>& order = attention.orders[operand];
    return view.input_shape(operand)[std::find(order.begin(), order.end(), axis) - order.begin()];
  };
  return 2 * extent(kQueries, kBatch) * attention.heads * extent(kQueries, kPosition) *
         extent(kKeys, kPosition) * (extent(kKeys, kItem) + extent(kValues, kItem));
}

// Each step of each row with all weights of what comes in, and of the state.
absl::StatusOr<int64_t> CountRecurrent(const Graph&, const Node&, const NodeView& view) {
  const Shape& x = view.input_shape(0);
  return 2 * x[0] * x[1] * (NumElements(view.input_shape(1)) + NumElements(view.input_shape(2)));
}

absl::StatusOr<int64_t> CountRecurrentSteps(const Graph&, const Node&, const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const RecurrentView recurrent, DecodeRecurrent(view));
  const Shape& sums = view.input_shape(0);
  const int64_t hidden = view.input_shape(1)[2];
  return 2 * sums[0] * sums[1] * static_cast<int64_t>(recurrent.reverse.size()) * recurrent.gates *
         hidden * hidden;
}

struct ProductRow {
  absl::string_view op;
  CountFunction count;
};
constexpr ProductRow kProducts[] = {
    {"Attention", CountAttention},
    {"Conv", CountConv},
    {"ConvInteger", CountQuantizedConv<1>},
    {"ConvTranspose", CountConvTranspose},
    {"GRU", CountRecurrent},
    {"Gemm", CountGemm},
    {"LSTM", CountRecurrent},
    {"MatMul", CountMatMul},
    {"MatMulInteger", CountQuantizedMatMul},
    {"QLinearConv", CountQuantizedConv<3>},
    {"QLinearMatMul", CountQuantizedMatMul},
    {"RNN", CountRecurrent},
    {"slipway.BlockAttention", CountBlockAttention},
    {"slipway.ConvNCHWc", CountConv},
    {"slipway.DepthwiseConvNCHWc", CountConv},
    {"slipway.GRUSteps", CountRecurrentSteps},
    {"slipway.GemmPacked", CountGemm},
    {"slipway.LSTMSteps", CountRecurrentSteps},
    {"slipway.RNNSteps", CountRecurrentSteps},
    {"slipway.WinogradConvNCHWc", CountConv},
};

bool IsOpen(const Graph& graph, ValueId id) {
  return id != kNoValue && !graph.values[id].type->is_static();
}

absl::Status CheckStatic(const Graph& graph, const Node& node) {
  for (const auto* ids : {&node.inputs, &node.outputs}) {
    for (const ValueId id : *ids) {
      if (IsOpen(graph, id)) {
        return absl::UnimplementedError(
            absl::StrCat("\"", graph.values[id].name, "\" has open extents"));
      }
    }
  }
  return absl::OkStatus();
}

bool IsKernel(const Node& node) { return node.op == kFusedOperator || node.op == kCallOperator; }

const Graph& BodyOf(const Node& node) {
  return **node.attributes.FindAs<std::shared_ptr<const Graph>>(absl::string_view(kFusedBody));
}

// Whether the node reads some elements of its first input alone, as many as it makes.
bool Picks(const Node& node) {
  return node.op == "Gather" || node.op == "GatherElements" || node.op == "GatherND" ||
         node.op == "Slice";
}

// By value: the bytes of it that nodes read.
using BytesOfValues = std::map<ValueId, int64_t>;

BytesOfValues BytesRead(const Graph& graph, absl::Span<const Node> nodes) {
  BytesOfValues bytes;
  for (const Node& node : nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue) continue;
      const int64_t all = graph.values[id].type->byte_size();
      const int64_t read = i == 0 && Picks(node) ? OutputBytes(graph, node) : all;
      bytes[id] = std::min(bytes[id] + read, all);
    }
  }
  return bytes;
}

}  // namespace

absl::StatusOr<int64_t> ProductFlops(const Graph& graph, const Node& node,
                                     const OperatorRegistry& registry) {
  if (IsKernel(node)) {
    const Graph& body = BodyOf(node);
    int64_t total = 0;
    for (const Node& inner : body.nodes) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t flops, ProductFlops(body, inner, registry));
      total += flops;
    }
    return total;
  }
  for (const ProductRow& row : kProducts) {
    if (row.op != node.op) continue;
    SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, node));
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, registry));
    return row.count(graph, node, view);
  }
  return 0;
}

double NodeFlops(const Graph& graph, const Node& node, const OperatorRegistry& registry) {
  if (!CheckStatic(graph, node).ok()) return 0;
  int64_t most = ProductFlops(graph, node, registry).value_or(0);
  for (const auto* ids : {&node.inputs, &node.outputs}) {
    for (const ValueId id : *ids) {
      if (id != kNoValue) most = std::max(most, graph.values[id].type->num_elements());
    }
  }
  return static_cast<double>(most);
}

int64_t OutputBytes(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) bytes += graph.values[id].type->byte_size();
  }
  return bytes;
}

absl::StatusOr<NodeTraffic> TrafficOf(const Graph& graph, const Node& node) {
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, node));
  BytesOfValues read = BytesRead(graph, absl::MakeConstSpan(&node, 1));
  if (IsKernel(node)) {
    const Graph& body = BodyOf(node);
    for (const Value& value : body.values) {
      if (!value.type->is_static()) return absl::UnimplementedError("a body has open extents");
    }
    BytesOfValues read_in_body = BytesRead(body, body.nodes);
    const std::vector<int> places =
        node.op == kCallOperator ? CallInputsOfBody(body) : std::vector<int>();
    // An input that the node has several times is left as it is.
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const size_t place = places.empty() ? i : static_cast<size_t>(places[i]);
      const ValueId id = node.inputs[place];
      if (std::count(node.inputs.begin(), node.inputs.end(), id) != 1) continue;
      read[id] = std::min(read[id], read_in_body[body.inputs[i]]);
    }
  }
  NodeTraffic traffic{.bytes = OutputBytes(graph, node)};
  for (const auto& [id, bytes] : read) {
    traffic.bytes += bytes;
    if (graph.values[id].constant.has_value()) traffic.constant_bytes += bytes;
  }
  return traffic;
}

}  // namespace slipway
