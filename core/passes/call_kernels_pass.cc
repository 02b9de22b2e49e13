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
  // Whether an extent of the outputs is a symbol that nothing before the node gives a value.
  bool MakesSymbols(absl::Span<const ValueType> outputs) const;
  // The nodes that stand for `node`, the call itself last.
  absl::StatusOr<std::vector<Node>> Make(const Node& node, const NodeView& view,
                                         const CallableKernel& kernel);

 private:
  Node MakeCall(const Node& node, const std::string& symbol, ValueId parameters);
  // What finds out the extents of the node's outputs that are symbols which nothing before it gives a value.
  absl::Status AddExtents(const Node& node, const NodeView& view, const CallableKernel& kernel,
                          absl::Span<const DataType> dtypes, std::vector<Node>& nodes);
  ValueId AddParameters(const Node& node, const NodeView& view, absl::string_view what,
                        const Tensor& parameters);

  // A dimension that is a symbol gives it its value.
  void LearnSymbols(const ValueType& type);
  // The symbol that the dimension is and that has no value; null where it is nothing such.
  const std::string* FreeSymbol(const Dimension& dimension) const;

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
    if (dimension.symbol() != nullptr) bound_.insert(*dimension.symbol());
  }
}

const std::string* Calls::FreeSymbol(const Dimension& dimension) const {
  const std::string* symbol = dimension.symbol();
  return symbol == nullptr || bound_.contains(*symbol) ? nullptr : symbol;
}

bool Calls::MakesSymbols(absl::Span<const ValueType> outputs) const {
  for (const ValueType& type : outputs) {
    if (type.dtype() == DataType::kInvalid) continue;
    for (const Dimension& dimension : type.dimensions()) {
      if (FreeSymbol(dimension) != nullptr) return true;
    }
  }
  return false;
}

absl::Status Calls::AddExtents(const Node& node, const NodeView& view, const CallableKernel& kernel,
                               absl::Span<const DataType> dtypes, std::vector<Node>& nodes) {
  std::vector<bool> wanted;  // An entry an extent.
  std::vector<std::string> symbols;
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const ValueType& type = *graph_.values[id].type;
    for (const Dimension& dimension : type.dimensions()) {
      if (dimension.is_unknown()) {
        return view.Unimplemented(absl::StrCat("its result is ", ToString(type),
                                               ", and extents that hang on the values of its "
                                               "inputs are not supported there"));
      }
      const std::string* symbol = FreeSymbol(dimension);
      wanted.push_back(symbol != nullptr);
      if (symbol == nullptr) continue;
      bound_.insert(*symbol);
      symbols.push_back(*symbol);
    }
  }
  if (symbols.empty()) return absl::OkStatus();
  if (kernel.extents == nullptr) {
    return absl::InternalError(absl::StrCat("nothing gives the symbol \"", symbols[0],
                                            "\" of node \"", view.display_name(), "\" its value"));
  }
  // Symbols that one number is, each by a binding of its own.
  std::vector<std::vector<std::string>> bindings;
  if (kernel.finds == CallableKernel::Finds::kOne) {
    for (const std::string& symbol : symbols) bindings.push_back({symbol});
  } else {
    bindings.push_back(symbols);
  }
  const auto count = static_cast<int64_t>(bindings[0].size());
  SLIPWAY_ASSIGN_OR_RETURN(Tensor parameters,
                           ExtentsParametersTensor(kernel, view, dtypes, wanted));
  Node find =
      MakeCall(node, kernel.extents_symbol, AddParameters(node, view, "extents of ", parameters));
  const ValueId numbers =
      graph_.AddValue(names_.Make(Shortened(absl::StrCat(view.display_name(), " extents"))),
                      ValueType(DataType::kInt64, {count}));
  find.name = Shortened(absl::StrCat("Extents ", view.display_name()));
  find.outputs = {numbers};
  find.attributes.Set(kCallExtents, count);
  nodes.push_back(std::move(find));
  for (std::vector<std::string>& names : bindings) {
    Node bind;
    bind.name = Shortened(absl::StrCat("BindSymbols ", view.display_name()));
    bind.op = kBindSymbolsOperator;
    bind.inputs = {numbers};
    bind.attributes.Set(kBoundSymbols, std::move(names));
    nodes.push_back(std::move(bind));
  }
  return absl::OkStatus();
}

ValueId Calls::AddParameters(const Node& node, const NodeView& view, absl::string_view what,
                             const Tensor& parameters) {
  return graph_.AddConstant(
      names_.Make(Shortened(absl::StrCat(node.op, " ", what, view.display_name(), " parameters"))),
      parameters);
}

absl::StatusOr<std::vector<Node>> Calls::Make(const Node& node, const NodeView& view,
                                              const CallableKernel& kernel) {
  std::vector<DataType> dtypes;
  for (const ValueId id : node.outputs) {
    dtypes.push_back(id == kNoValue ? DataType::kInvalid : graph_.values[id].type->dtype());
  }
  // Before values are added, which moves those that the view refers to.
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor parameters, ParametersTensor(kernel, view, dtypes));
  std::vector<Node> nodes;
  SLIPWAY_RETURN_IF_ERROR(AddExtents(node, view, kernel, dtypes, nodes));
  nodes.push_back(MakeCall(node, kernel.symbol, AddParameters(node, view, "", parameters)));
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
    if (kernel == nullptr) {
      nodes.push_back(std::move(node));
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, context.registry));
    const std::vector<ValueType> outputs = TypesOf(graph, node.outputs);
    const bool is_view = context.registry.MovementOf(node.op) == Movement::kView;
    if (!calls.MakesSymbols(outputs) && (is_view || is_lowered(view, outputs))) {
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
