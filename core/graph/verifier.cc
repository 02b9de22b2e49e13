#include "core/graph/verifier.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/graph/edit.h"

namespace slipway {
namespace {

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

absl::Status CheckName(absl::string_view name, absl::string_view what) {
  if (!IsUtf8(name)) {
    return Invalid(absl::StrCat("the name of a ", what, " is not UTF-8: \"", ToUtf8(name), "\""));
  }
  if (name.size() <= kMaxNameBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the name of a ", what, " has ", name.size(),
                                                   " bytes, more than the limit of ", kMaxNameBytes,
                                                   ": \"", name.substr(0, 64), "...\""));
}

class GraphVerifier {
 public:
  // `around` is the graph that a body stands in, else null.
  GraphVerifier(const Graph& graph, const OperatorRegistry& registry, const VerifyOptions& options,
                const Graph* around, int depth)
      : graph_(graph), registry_(registry), options_(options), around_(around), depth_(depth) {}

  absl::Status Run() {
    SLIPWAY_RETURN_IF_ERROR(CheckSizes());
    SLIPWAY_RETURN_IF_ERROR(CheckGraphSymbols());
    SLIPWAY_RETURN_IF_ERROR(CheckValues());
    SLIPWAY_RETURN_IF_ERROR(CheckOrder());
    for (const Node& node : graph_.nodes) SLIPWAY_RETURN_IF_ERROR(CheckTypes(node));
    return CheckAllTyped();
  }

 private:
  std::string Describe(const Node& node) const {
    return absl::StrCat("node \"", DisplayName(graph_, node), "\" (", node.op, ")");
  }
  bool InRange(ValueId id) const {
    return id >= 0 && id < static_cast<ValueId>(graph_.values.size());
  }

  absl::Status CheckSizes() const {
    if (graph_.opset != kOpset) {
      return absl::UnimplementedError(absl::StrCat("graph \"", graph_.name, "\" has opset ",
                                                   graph_.opset, ", only ", kOpset,
                                                   " is supported here"));
    }
    if (depth_ > kMaxGraphNesting) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "graph \"", graph_.name, "\" is nested deeper than the limit of ", kMaxGraphNesting));
    }
    if (graph_.nodes.size() > kMaxNodes || graph_.values.size() > kMaxValues) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "graph \"", graph_.name, "\" has ", graph_.nodes.size(), " nodes and ",
          graph_.values.size(), " values, the limits are ", kMaxNodes, " and ", kMaxValues));
    }
    for (const Node& node : graph_.nodes) SLIPWAY_RETURN_IF_ERROR(CheckName(node.name, "node"));
    return CheckName(graph_.name, "graph");
  }

  absl::Status CheckGraphSymbols() const {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckSymbols(graph_.symbols),
                                 absl::StrCat("graph \"", graph_.name, "\""));
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckConstraints(graph_.constraints, graph_.symbols),
                                 absl::StrCat("graph \"", graph_.name, "\""));
    for (const Constraint& constraint : graph_.constraints) {
      SLIPWAY_RETURN_IF_ERROR(CheckName(constraint.user, "user of a constraint"));
    }
    if (around_ == nullptr) return absl::OkStatus();
    for (const Symbol& symbol : graph_.symbols) {
      const Symbol* outer = FindSymbol(around_->symbols, symbol.name);
      if (outer != nullptr && *outer == symbol) continue;
      return Invalid(absl::StrCat("graph \"", graph_.name, "\" has the symbol \"", symbol.name,
                                  "\", which the graph around it lacks or bounds otherwise"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckValues() const {
    absl::flat_hash_set<absl::string_view> names;
    for (const Value& value : graph_.values) {
      if (value.name.empty()) return Invalid("a value has no name");
      SLIPWAY_RETURN_IF_ERROR(CheckName(value.name, "value"));
      if (!names.insert(value.name).second) {
        return Invalid(absl::StrCat("two values are named \"", value.name, "\""));
      }
      if (value.constant.has_value() &&
          (!value.constant->is_set() || !value.type.has_value() || !value.type->is_static() ||
           value.type->tensor() != value.constant->type())) {
        return Invalid(
            absl::StrCat("constant \"", value.name, "\" has another type than its tensor"));
      }
      if (value.type.has_value()) {
        SLIPWAY_RETURN_IF_ERROR_WITH(CheckType(*value.type, graph_.symbols),
                                     absl::StrCat("value \"", value.name, "\""));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckOrder() const {
    std::vector<bool> defined(graph_.values.size(), false);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      defined[i] = graph_.values[i].constant.has_value();
    }
    for (const ValueId id : graph_.inputs) {
      if (!InRange(id)) return Invalid(absl::StrCat("graph input ", id, " does not exist"));
      if (defined[id]) {
        return Invalid(absl::StrCat("graph input \"", graph_.values[id].name,
                                    "\" is listed twice or is a constant"));
      }
      defined[id] = true;
    }
    for (const Node& node : graph_.nodes) {
      SLIPWAY_RETURN_IF_ERROR(CheckInputsAreDefined(node, defined));
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        if (!InRange(id)) {
          return Invalid(
              absl::StrCat(Describe(node), " writes value ", id, ", which does not exist"));
        }
        if (defined[id]) {
          return Invalid(absl::StrCat(Describe(node), " writes \"", graph_.values[id].name,
                                      "\", which is defined already"));
        }
        defined[id] = true;
      }
    }
    for (const ValueId id : graph_.outputs) {
      if (!InRange(id)) return Invalid(absl::StrCat("graph output ", id, " does not exist"));
      if (!defined[id]) {
        return Invalid(
            absl::StrCat("graph output \"", graph_.values[id].name, "\" is made by no node"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckInputsAreDefined(const Node& node, const std::vector<bool>& defined) const {
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      if (!InRange(id)) {
        return Invalid(absl::StrCat(Describe(node), " reads value ", id, ", which does not exist"));
      }
      if (defined[id]) continue;
      for (const Node& producer : graph_.nodes) {
        for (const ValueId output : producer.outputs) {
          if (output != id) continue;
          return Invalid(absl::StrCat(Describe(node), " reads \"", graph_.values[id].name,
                                      "\", which ", Describe(producer),
                                      " makes later: the graph is cyclic or not in order"));
        }
      }
      return Invalid(absl::StrCat(Describe(node), " reads \"", graph_.values[id].name,
                                  "\", which nothing makes"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckTypes(const Node& node) const {
    const std::string name = DisplayName(graph_, node);
    const auto schema = registry_.Get(node.op);
    if (!schema.ok()) return Annotate(schema.status(), absl::StrCat("node \"", name, "\""));
    SLIPWAY_RETURN_IF_ERROR(CheckNode(node, **schema, name));
    for (const auto& [attribute, value] : node.attributes) {
      if (KindOf(value) != AttributeKind::kGraph) continue;
      const Graph& body = *std::get<std::shared_ptr<const Graph>>(value);
      // Bodies that passes do not enter may have types that only running tells.
      VerifyOptions inside = options_;
      inside.require_types = options_.require_types && ((*schema)->body_rule != nullptr ||
                                                        (*schema)->pattern == Pattern::kKernel);
      SLIPWAY_RETURN_IF_ERROR_WITH(
          GraphVerifier(body, registry_, inside, &graph_, depth_ + 1).Run(),
          absl::StrCat(Describe(node), " attribute \"", attribute, "\""));
    }
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && !graph_.values[id].type.has_value()) return absl::OkStatus();
    }
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph_, node, registry_));
    SLIPWAY_RETURN_IF_ERROR(CheckBodyInputs(view));
    const auto types = InferNodeTypes(view);
    if (absl::IsFailedPrecondition(types.status()) && !options_.require_types) {
      return absl::OkStatus();
    }
    SLIPWAY_RETURN_IF_ERROR(types.status());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const Value& output = graph_.values[node.outputs[i]];
      if (output.type.has_value() && Contradict(*output.type, (*types)[i])) {
        return Invalid(absl::StrCat(Describe(node), " makes ", ToString((*types)[i]), " but \"",
                                    output.name, "\" is declared ", ToString(*output.type)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckAllTyped() const {
    if (!options_.require_types) return absl::OkStatus();
    for (const Value& value : graph_.values) {
      if (!value.type.has_value()) {
        return Invalid(absl::StrCat("value \"", value.name, "\" has no type"));
      }
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const OperatorRegistry& registry_;
  const VerifyOptions& options_;
  const Graph* around_;
  const int depth_;
};

}  // namespace

absl::Status Verify(const Graph& graph, const OperatorRegistry& registry,
                    const VerifyOptions& options) {
  return GraphVerifier(graph, registry, options, nullptr, 0).Run();
}

}  // namespace slipway
