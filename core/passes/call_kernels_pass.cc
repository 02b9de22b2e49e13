#include "core/passes/call_kernels_pass.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/edit.h"
#include "core/operators/fused.h"
#include "core/passes/limits.h"
#include "core/reference/callable_kernel.h"

namespace slipway {
namespace {

// The call that stands for `node`. Its parameters become a constant of the graph.
Node MakeCall(Graph& graph, UniqueNames& names, const Node& node, const CallableKernel& kernel,
              Tensor parameters) {
  const auto shortened = [](absl::string_view made) {
    return std::string(Utf8Prefix(made, kMaxMadeNameBytes));
  };
  Node call;
  call.name = shortened(absl::StrCat(node.op, " ", DisplayName(graph, node)));
  call.op = kCallOperator;
  Graph body;
  body.name = call.name;
  body.opset = graph.opset;
  Node inner = node;
  call.inputs.push_back(graph.AddConstant(
      names.Make(shortened(absl::StrCat(call.name, " parameters"))), std::move(parameters)));
  absl::flat_hash_map<ValueId, ValueId> inside;  // By value of the graph: that of the body.
  for (ValueId& id : inner.inputs) {
    if (id == kNoValue) continue;
    call.inputs.push_back(id);
    const Value& value = graph.values[id];
    const auto [entry, is_new] = inside.try_emplace(id, kNoValue);
    // Types may hang on the values of constants.
    if (is_new && value.constant.has_value()) {
      entry->second = body.AddConstant(value.name, *value.constant);
    } else if (is_new) {
      entry->second = body.AddInput(value.name, value.type);
    }
    id = entry->second;
  }
  for (ValueId& id : inner.outputs) {
    if (id == kNoValue) continue;
    call.outputs.push_back(id);
    id = body.AddValue(graph.values[id].name, graph.values[id].type);
    body.outputs.push_back(id);
  }
  body.nodes.push_back(std::move(inner));
  call.attributes.Set(kCallSymbol, kernel.symbol);
  call.attributes.Set(kFusedBody, std::make_shared<const Graph>(std::move(body)));
  return call;
}

}  // namespace

absl::StatusOr<Graph> CallKernels(Graph graph, const PassContext& context,
                                  const IsLowered& is_lowered) {
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, "making kernels"));
  UniqueNames names(graph);
  for (Node& node : graph.nodes) {
    const CallableKernel* kernel = context.reference.FindCallable(node.op);
    if (kernel == nullptr || context.registry.MovementOf(node.op) == Movement::kView) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, context.registry));
    std::vector<TensorType> outputs;
    std::vector<DataType> dtypes;
    for (const ValueId id : node.outputs) {
      outputs.push_back(id == kNoValue ? TensorType{} : graph.values[id].type->tensor());
      dtypes.push_back(outputs.back().dtype);
    }
    if (is_lowered(view, outputs)) continue;
    SLIPWAY_ASSIGN_OR_RETURN(Tensor parameters, ParametersTensor(*kernel, view, dtypes));
    Node call = MakeCall(graph, names, node, *kernel, std::move(parameters));
    node = std::move(call);
  }
  return graph;
}

}  // namespace slipway
