#include "core/passes/node_cost.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/fused.h"
#include "core/operators/products.h"

namespace slipway {
namespace {

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
  if (!MakesProducts(node.op)) return 0;
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, node));
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, registry));
  return ProductFlops(view, TypesOf(graph, node.outputs));
}

DataType ProductType(const Graph& graph, const Node& node) {
  if (!IsKernel(node)) {
    return MakesProducts(node.op) ? graph.values[node.inputs[0]].type->dtype() : DataType::kInvalid;
  }
  const Graph& body = BodyOf(node);
  for (const Node& inner : body.nodes) {
    const DataType type = ProductType(body, inner);
    if (type != DataType::kInvalid) return type;
  }
  return DataType::kInvalid;
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
