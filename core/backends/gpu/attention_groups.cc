#include "core/backends/gpu/attention_groups.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/backends/program/program_manifest.h"
#include "core/base/status_macros.h"
#include "core/codegen/tensor_cores/attention_kernel.h"
#include "core/codegen/tensor_cores/fused_attention.h"
#include "core/codegen/tensor_cores/tensor_core_kernel.h"
#include "core/operators/fused.h"
#include "core/passes/fuse_attention_pass.h"

namespace slipway {
namespace {

constexpr int64_t kHost = 0;
constexpr char kBlockAttention[] = "slipway.BlockAttention";

// The node as a group of its own. All that it reads comes in, constants too: the template has no tables in its code.
Node GroupOf(const Graph& graph, const Node& node, Precision precision) {
  Node fused;
  fused.name = absl::StrCat("BlockAttention ", DisplayName(graph, node));
  fused.op = kFusedOperator;
  Graph body;
  body.name = fused.name;
  body.opset = graph.opset;
  body.symbols = graph.symbols;
  Node inner = node;
  std::map<ValueId, ValueId> inside;
  for (ValueId& id : inner.inputs) {
    const Value& value = graph.value(id);
    const auto [entry, is_new] = inside.try_emplace(id, kNoValue);
    if (is_new) {
      fused.inputs.push_back(id);
      entry->second = body.AddInput(value.name, value.type);
    }
    id = entry->second;
  }
  const Value& made = graph.value(node.outputs[0]);
  fused.outputs = node.outputs;
  inner.outputs = {body.AddValue(made.name, made.type)};
  body.outputs = inner.outputs;
  body.nodes.push_back(std::move(inner));
  fused.attributes.Set(kFusedBody, std::make_shared<const Graph>(std::move(body)));
  fused.attributes.Set(kFusedProducts, static_cast<int64_t>(precision));
  return fused;
}

}  // namespace

absl::StatusOr<Graph> GroupAttention(Graph graph, const PassContext& context,
                                     const DeviceTarget& device, Precision precision) {
  if (!CheckHasProductsOf(device, precision).ok()) return graph;
  SLIPWAY_ASSIGN_OR_RETURN(graph,
                           FuseAttention(std::move(graph), context, [](const NodeView& attention) {
                             return DecodeFusedAttention(attention).status();
                           }));
  int groups = 0;
  int causal = 0;
  for (Node& node : graph.nodes) {
    if (node.op != kBlockAttention) continue;
    if (node.attributes.Find("is_causal") != nullptr) ++causal;
    node = GroupOf(graph, node, precision);
    ++groups;
  }
  if (context.ledger != nullptr && groups > 0) {
    std::vector<std::string>& notes = context.ledger->notes;
    notes.insert(notes.begin(),
                 absl::StrCat(groups, groups == 1 ? " attention is" : " attentions are",
                              " one kernel of ", Name(precision), groups == 1 ? "" : " each",
                              causal > 0 ? absl::StrCat(", ", causal, " causal") : ""));
  }
  return graph;
}

Graph UngroupHostsAttention(Graph graph) {
  for (Node& node : graph.nodes) {
    if (node.op != kFusedOperator || DeviceNumberOf(node) != kHost) continue;
    const Graph& body = *ComputedBy(node);
    if (!IsAttention(body)) continue;
    Node inner = body.nodes[0];
    inner.name = node.name;
    for (ValueId& id : inner.inputs) {
      const auto input = absl::c_find(body.inputs, id);
      id = node.inputs[static_cast<size_t>(input - body.inputs.begin())];
    }
    inner.outputs = node.outputs;
    node = std::move(inner);
  }
  return graph;
}

}  // namespace slipway
