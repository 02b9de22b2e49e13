#include "core/passes/call_kernels_pass.h"

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/graph/edit.h"
#include "core/operators/fused.h"
#include "core/passes/limits.h"
#include "core/reference/callable_kernel.h"

namespace slipway {
namespace {

// The makers of calls in one graph.
class Calls {
 public:
  explicit Calls(Graph& graph) : graph_(graph), names_(graph) {
    for (const ValueId id : graph.inputs) LearnSymbols(*graph.values[id].type);
  }

  // What runs bodies gives the extents of its outputs their values.
  void LearnOutputs(const Node& node) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) LearnSymbols(*graph_.values[id].type);
    }
  }
  // The nodes that stand for `node`, the call itself last.
  absl::StatusOr<std::vector<Node>> Make(const Node& node, const NodeView& view,
                                         const CallableKernel& kernel);

 private:
  Node MakeCall(const Node& node, const std::string& symbol, ValueId parameters);
  // What finds out the extents of the node's outputs that are symbols which nothing before it gives a value.
  absl::Status AddCount(const Node& node, const NodeView& view, const CallableKernel& kernel,
                        ValueId parameters, std::vector<Node>& nodes);

  // A dimension that is a symbol gives it its value.
  void LearnSymbols(const ValueType& type);

  Graph& graph_;
  UniqueNames names_;
  absl::flat_hash_set<std::string> bound_;  // Symbols that have a value.
};

std::string Shortened(absl::string_view made) {
  return std::string(Utf8Prefix(made, kMaxMadeNameBytes));
}

Node Calls::MakeCall(const Node& node, const std::string& symbol, ValueId parameters) {
  Node call;
  call.name = Shortened(absl::StrCat(node.op, " ", DisplayName(graph_, node)));
  call.op = kCallOperator;
  Graph body;
  body.name = call.name;
  body.opset = graph_.opset;
  body.symbols = graph_.symbols;
  Node inner = node;
  call.inputs.push_back(parameters);
  absl::flat_hash_map<ValueId, ValueId> inside;  // By value of the graph: that of the body.
  for (ValueId& id : inner.inputs) {
    if (id == kNoValue) continue;
    call.inputs.push_back(id);
    const Value& value = graph_.values[id];
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
    id = body.AddValue(graph_.values[id].name, graph_.values[id].type);
  }
  for (const ValueId id : inner.outputs) {
    if (id != kNoValue) body.outputs.push_back(id);
  }
  body.nodes.push_back(std::move(inner));
  call.attributes.Set(kCallSymbol, symbol);
  call.attributes.Set(kFusedBody, std::make_shared<const Graph>(std::move(body)));
  return call;
}

void Calls::LearnSymbols(const ValueType& type) {
  for (const Dimension& dimension : type.dimensions()) {
    if (dimension.is_known() || dimension.is_unknown()) continue;
    const Expression extent = dimension.expression();
    if (extent.kind() == Expression::Kind::kSymbol) bound_.insert(extent.symbol());
  }
}

absl::Status Calls::AddCount(const Node& node, const NodeView& view, const CallableKernel& kernel,
                             ValueId parameters, std::vector<Node>& nodes) {
  std::optional<std::string> symbol;
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    for (const Dimension& dimension : graph_.values[id].type->dimensions()) {
      if (dimension.is_known()) continue;
      if (dimension.is_unknown()) {
        return view.Unimplemented(absl::StrCat("its result is ", ToString(*graph_.values[id].type),
                                               ", and extents that hang on the values of its "
                                               "inputs are not supported there"));
      }
      const Expression extent = dimension.expression();
      if (extent.kind() == Expression::Kind::kSymbol && !bound_.contains(extent.symbol())) {
        symbol = extent.symbol();
      }
    }
  }
  if (!symbol.has_value()) return absl::OkStatus();
  if (kernel.count == nullptr) {
    return absl::InternalError(absl::StrCat("nothing gives the symbol \"", *symbol, "\" of node \"",
                                            view.display_name(), "\" its value"));
  }
  Node count = MakeCall(node, kernel.count_symbol, parameters);
  const ValueId number =
      graph_.AddValue(names_.Make(Shortened(absl::StrCat(view.display_name(), " count"))),
                      ValueType(DataType::kInt64, {1}));
  count.name = Shortened(absl::StrCat("Count ", view.display_name()));
  count.outputs = {number};
  count.attributes.Set(kCallCounts, int64_t{1});
  nodes.push_back(std::move(count));
  Node bind;
  bind.name = Shortened(absl::StrCat("BindSymbols ", view.display_name()));
  bind.op = kBindSymbolsOperator;
  bind.inputs = {number};
  bind.attributes.Set(kBoundSymbols, std::vector<std::string>{*symbol});
  nodes.push_back(std::move(bind));
  bound_.insert(*symbol);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Node>> Calls::Make(const Node& node, const NodeView& view,
                                              const CallableKernel& kernel) {
  std::vector<DataType> dtypes;
  for (const ValueId id : node.outputs) {
    dtypes.push_back(id == kNoValue ? DataType::kInvalid : graph_.values[id].type->dtype());
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ParametersTensor(kernel, view, dtypes));
  const ValueId parameters = graph_.AddConstant(
      names_.Make(Shortened(absl::StrCat(node.op, " ", view.display_name(), " parameters"))),
      std::move(tensor));
  std::vector<Node> nodes;
  SLIPWAY_RETURN_IF_ERROR(AddCount(node, view, kernel, parameters, nodes));
  nodes.push_back(MakeCall(node, kernel.symbol, parameters));
  return nodes;
}

}  // namespace

absl::StatusOr<Graph> CallKernels(Graph graph, const PassContext& context,
                                  const IsLowered& is_lowered) {
  Calls calls(graph);
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    const OperatorSchema* schema = context.registry.Find(node.op);
    if (schema != nullptr && schema->body_rule != nullptr) calls.LearnOutputs(node);
    const CallableKernel* kernel = context.reference.FindCallable(node.op);
    if (kernel == nullptr || context.registry.MovementOf(node.op) == Movement::kView) {
      nodes.push_back(std::move(node));
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, context.registry));
    std::vector<ValueType> outputs;
    for (const ValueId id : node.outputs) {
      outputs.push_back(id == kNoValue ? ValueType() : *graph.values[id].type);
    }
    if (is_lowered(view, outputs)) {
      nodes.push_back(std::move(node));
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Node> made, calls.Make(node, view, *kernel));
    std::move(made.begin(), made.end(), std::back_inserter(nodes));
  }
  graph.nodes = std::move(nodes);
  return graph;
}

}  // namespace slipway
