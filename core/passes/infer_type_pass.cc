#include "core/passes/infer_type_pass.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/edit.h"
#include "core/passes/body_types.h"
#include "core/passes/constant_node.h"
#include "core/passes/contents.h"
#include "core/passes/inline_branch.h"
#include "core/passes/known_sequences.h"
#include "core/passes/limits.h"
#include "core/passes/narrow_symbols.h"
#include "core/passes/open_extents.h"
#include "core/reference/callable_kernel.h"

namespace slipway {
namespace {

// `node` makes the value, of this type.
absl::Status SetType(const NodeView& view, ValueId id, const ValueType& type, Graph& graph) {
  Value& value = graph.values[id];
  const Node& node = view.node();
  if (value.type.has_value() &&
      (Contradict(*value.type, type) || view.Differ(value.type->dimensions(), type.dimensions()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("node \"", DisplayName(graph, node), "\" (", node.op, ") makes \"", value.name,
                     "\" of type ", ToString(type), ", but the model states ",
                     ToString(*value.type), "; correct one of the two"));
  }
  RefineType(value, type);
  return absl::OkStatus();
}

// By now everything that can be known is: what a rule still lacks comes from the caller's inputs.
absl::Status NotDynamic(const absl::Status& status) {
  if (!absl::IsFailedPrecondition(status)) return status;
  return absl::UnimplementedError(
      absl::StrCat(status.message(), "; what depends on the values of inputs is not supported"));
}

// Shape arithmetic: small inputs, small results.
bool IsSmall(const Graph& graph, const Node& node, const OperatorRegistry& registry) {
  const auto small = [&graph](ValueId id) {
    if (id == kNoValue) return true;
    const ValueType& type = *graph.values[id].type;
    // Of strings, which have no size by their type, as many.
    return type.is_static() &&
           std::max(type.byte_size(), type.num_elements()) <= kMaxShapeArithmeticBytes;
  };
  return (registry.Find(node.op)->reads_types_only ||
          std::all_of(node.inputs.begin(), node.inputs.end(), small)) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), small);
}

// Extents that values decide and a kernel finds get a symbol each, or one a node (CallableKernel::extents).
void NameFoundExtents(const Node& node, const PassContext& context, Graph& graph) {
  const CallableKernel* kernel = context.reference.FindCallable(node.op);
  if (kernel == nullptr || kernel->extents == nullptr) return;
  const bool is_one = kernel->finds == CallableKernel::Finds::kOne;
  std::optional<Expression> symbol;
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    Value& value = graph.values[id];
    Dimensions dimensions = value.type->dimensions();
    for (Dimension& dimension : dimensions) {
      if (!dimension.is_unknown()) continue;
      if (!symbol.has_value() || !is_one) {
        if (graph.symbols.size() >= kMaxSymbols) return;
        symbol = AddExtentSymbol(value.name, graph.symbols);
      }
      dimension = *symbol;
    }
    RefineType(value, ValueType(value.type->dtype(), dimensions));
  }
}

// What runs bodies makes values whose extents may be known inside alone: here each of these is a symbol of its own.
void NameMadeExtents(const Node& node, const std::vector<Symbol>& around,
                     std::vector<ValueType>& types, Graph& graph) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    types[i] = WithNamedExtents(graph.values[node.outputs[i]].name,
                                WithoutOtherSymbols(types[i], around), graph.symbols);
  }
}

// What the nodes need, each once.
class Constraints {
 public:
  void Add(std::vector<Constraint> more) {
    for (Constraint& one : more) {
      if (seen_.insert(ToString(one)).second) all_.push_back(std::move(one));
    }
  }
  absl::StatusOr<std::vector<Constraint>> Take() && {
    if (all_.size() <= kMaxConstraints) return std::move(all_);
    return absl::ResourceExhaustedError(
        absl::StrCat("the extents of inputs have to fit in ", all_.size(), " ways, which is more ",
                     "than the limit of ", kMaxConstraints, "; state more of them in the model"));
  }

 private:
  std::vector<Constraint> all_;
  absl::flat_hash_set<std::string> seen_;
};

// What a graph and its bodies may still take.
struct Left {
  int64_t body_nodes = kMaxInferredBodyNodes;  // Loops within loops are inferred again and again.
  int64_t work = kMaxShapeArithmeticWork;
};

absl::StatusOr<Graph> Infer(Graph graph, const PassContext& context, Left& left) {
  const auto infer_body = [&](Graph body) -> absl::StatusOr<Graph> {
    left.body_nodes -= static_cast<int64_t>(body.nodes.size());
    if (left.body_nodes >= 0) return Infer(std::move(body), context, left);
    return absl::ResourceExhaustedError(
        absl::StrCat("the types in bodies hang on each other in more than the limit of ",
                     kMaxInferredBodyNodes, " steps"));
  };
  for (const ValueId id : graph.inputs) {
    if (graph.values[id].type.has_value()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("graph input \"", graph.values[id].name,
                     "\" has no type: state its element type and shape in the model"));
  }
  std::vector<Node> kept;
  KnownContents contents;
  UniqueNames names(graph);
  Constraints constraints;
  KnownSequences sequences(graph, context.registry, names);
  std::vector<Node> waiting;  // The next one last.
  const auto take_first = [&waiting](std::vector<Node> nodes) {
    waiting.insert(waiting.end(), std::make_move_iterator(nodes.rbegin()),
                   std::make_move_iterator(nodes.rend()));
  };
  take_first(std::move(graph.nodes));
  while (true) {
    if (waiting.empty()) take_first(sequences.PackOutputs());
    if (waiting.empty()) break;
    Node node = std::move(waiting.back());
    waiting.pop_back();
    if (auto nodes = InlineKnownBranch(node, context.registry, graph, names)) {
      take_first(*std::move(nodes));
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(auto rewritten, sequences.Rewrite(node));
    if (rewritten.has_value()) {
      take_first(*std::move(rewritten));
      continue;
    }
    const OperatorSchema* schema = context.registry.Find(node.op);
    const bool has_bodies = schema != nullptr && schema->body_rule != nullptr;
    const std::vector<Symbol> around = has_bodies ? graph.symbols : std::vector<Symbol>();
    SLIPWAY_RETURN_IF_ERROR(InferBodyTypes(graph, node, context.registry, infer_body));
    SLIPWAY_ASSIGN_OR_RETURN(NodeView view, NodeView::Create(graph, node, context.registry));
    contents.Show(node, view);
    std::vector<Constraint> needed;
    view.set_constraints(&needed);
    absl::StatusOr<std::vector<ValueType>> types = InferNodeTypes(view);
    if (!types.ok()) return NotDynamic(types.status());
    if (has_bodies) NameMadeExtents(node, around, *types, graph);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      SLIPWAY_RETURN_IF_ERROR(SetType(view, node.outputs[i], (*types)[i], graph));
    }
    constraints.Add(std::move(needed));
    NameFoundExtents(node, context, graph);
    if (IsConstantNode(graph, node, context.registry) && !IsDequantizedConstant(graph, node) &&
        IsSmall(graph, node, context.registry)) {
      absl::StatusOr<std::vector<Tensor>> results =
          EvaluateConstantNode(graph, node, context, left.work);
      if (results.ok()) {
        MakeOutputsConstant(node, *std::move(results), graph);
        continue;
      }
      if (!IsLeftToRunTime(results.status())) return results.status();
    }
    std::optional<Tensor> known = contents.Learn(graph, node, view);
    if (known.has_value() && node.outputs.size() == 1) {
      std::vector<Tensor> results;
      results.push_back(*std::move(known));
      MakeOutputsConstant(node, std::move(results), graph);
      continue;
    }
    kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  SLIPWAY_ASSIGN_OR_RETURN(graph.constraints, std::move(constraints).Take());
  DropUnusedValues(graph);
  return graph;
}

}  // namespace

absl::StatusOr<Graph> InferType(Graph graph, const PassContext& context) {
  const auto infer = [&context](Graph from) {
    Left left;
    return Infer(std::move(from), context, left);
  };
  if (graph.symbols.empty()) return infer(std::move(graph));
  SLIPWAY_ASSIGN_OR_RETURN(Graph inferred, infer(graph));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Symbol> narrowed,
                           NarrowedSymbols(inferred, context.registry));
  bool is_narrower = false;
  SymbolValues settled;
  for (Symbol& symbol : graph.symbols) {  // Not those that inferring added: it adds them again.
    const Symbol& bounds = *FindSymbol(narrowed, symbol.name);
    is_narrower |= bounds != symbol;
    symbol = bounds;
    if (symbol.min == symbol.max) settled.emplace(symbol.name, symbol.min);
  }
  if (!is_narrower) return inferred;
  SLIPWAY_ASSIGN_OR_RETURN(graph, BindSymbols(std::move(graph), settled));
  return infer(std::move(graph));
}

}  // namespace slipway
