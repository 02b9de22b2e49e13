#include "core/passes/lower_strings_pass.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/control.h"
#include "core/passes/bodies.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/limits.h"
#include "core/passes/open_extents.h"
#include "core/reference/string_nodes.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

bool IsString(const Value& value) {
  return value.type.has_value() && value.type->dtype() == DataType::kString;
}

bool HasStringValues(const Graph& graph, const OperatorRegistry& registry) {
  for (const Value& value : graph.values) {
    if (IsString(value)) return true;
  }
  for (const Node& node : graph.nodes) {
    const OperatorSchema* schema = registry.Find(node.op);
    if (schema == nullptr || schema->body_rule == nullptr) continue;
    for (const auto& [name, value] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
      if (body != nullptr && HasStringValues(**body, registry)) return true;
    }
  }
  return false;
}

// One graph, or body.
class StringLowering {
 public:
  StringLowering(Graph graph, const PassContext& context)
      : graph_(std::move(graph)), context_(context), names_(graph_) {}

  absl::StatusOr<Graph> Run(bool is_body);

 private:
  absl::Status LowerNode(Node node);
  absl::Status LowerControl(Node node, const NodeView& view);
  // Appends what `written` holds in the place of `node`.
  absl::Status Splice(const Node& node, const Graph& written);
  // The places take the value's own place; the contents are new.
  absl::Status LowerValue(ValueId id);
  // Each value, and behind one of strings its contents.
  std::vector<ValueId> WithContents(const std::vector<ValueId>& ids) const;
  // Gives outputs of strings contents of their own with the name that belongs to them.
  void NameOutputContents();

  Graph graph_;
  const PassContext& context_;
  UniqueNames names_;
  absl::flat_hash_map<ValueId, ValueId> contents_;  // By value of strings.
  std::vector<Node> nodes_;
};

absl::Status StringLowering::LowerValue(ValueId id) {
  Value& value = graph_.values[id];
  const Dimensions dimensions = value.type->dimensions();
  const std::string name = names_.Make(ContentsName(value.name));
  if (value.constant.has_value()) {
    SLIPWAY_ASSIGN_OR_RETURN(StringParts parts, SplitStrings(*value.constant));
    value.type = ValueType(parts.places.type());
    value.constant = std::move(parts.places);
    contents_[id] = graph_.AddConstant(name, std::move(parts.contents));
    return absl::OkStatus();
  }
  value.type = ValueType(DataType::kInt64, dimensions);
  contents_[id] = graph_.AddValue(name);
  return absl::OkStatus();
}

std::vector<ValueId> StringLowering::WithContents(const std::vector<ValueId>& ids) const {
  std::vector<ValueId> all;
  for (const ValueId id : ids) {
    all.push_back(id);
    const auto found = contents_.find(id);
    if (found != contents_.end()) all.push_back(found->second);
  }
  return all;
}

absl::Status StringLowering::Splice(const Node& node, const Graph& written) {
  std::vector<ValueId> ids(written.values.size(), kNoValue);  // Of the new graph's values, here.
  std::vector<ValueId> inputs;
  for (const ValueId id : WithContents(node.inputs)) {
    if (id != kNoValue) inputs.push_back(id);
  }
  for (size_t i = 0; i < inputs.size(); ++i) ids[written.inputs[i]] = inputs[i];
  // What the node makes keeps its values; contents may be those of another value.
  size_t next = 0;
  std::vector<std::pair<ValueId, ValueId>>
      made;  // A value of strings, and its contents in `written`.
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    ids[written.outputs[next++]] = id;
    if (contents_.contains(id)) made.emplace_back(id, written.outputs[next++]);
  }
  for (const auto& [id, contents] : made) {
    if (ids[contents] == kNoValue && !written.values[contents].constant.has_value()) {
      ids[contents] = contents_[id];
    }
  }
  const std::string prefix = DisplayName(graph_, node);
  for (size_t v = 0; v < written.values.size(); ++v) {
    if (ids[v] != kNoValue) continue;
    const Value& value = written.values[v];
    const std::string name = names_.Make(absl::StrCat(prefix, " ", value.name));
    ids[v] = value.constant.has_value() ? graph_.AddConstant(name, *value.constant)
                                        : graph_.AddValue(name);
  }
  for (const auto& [id, contents] : made) contents_[id] = ids[contents];
  for (const Node& from : written.nodes) {
    Node to = from;
    to.name = prefix;
    for (std::vector<ValueId>* list : {&to.inputs, &to.outputs}) {
      for (ValueId& id : *list) {
        if (id != kNoValue) id = ids[id];
      }
    }
    nodes_.push_back(std::move(to));
  }
  return absl::OkStatus();
}

absl::Status StringLowering::LowerControl(Node node, const NodeView& view) {
  int captures = static_cast<int>(view.Int(kCapturesAttribute));
  const auto is_string = [this](ValueId id) { return contents_.contains(id); };
  if (view.op() != kIfOperator) {
    SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
    for (int i = 0; i < loop.first_captured(); ++i) {
      const bool is_carried = i >= loop.first_carried && i < loop.first_scanned();
      if (is_string(node.inputs[i]) && (loop.is_scan || !is_carried)) {
        return view.Unimplemented("a loop over slices of strings is not supported");
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (static_cast<int>(i) >= loop.carried && is_string(node.outputs[i])) {
        return view.Unimplemented("a loop that collects strings is not supported");
      }
    }
  }
  for (size_t i = node.inputs.size() - static_cast<size_t>(captures); i < node.inputs.size(); ++i) {
    captures += is_string(node.inputs[i]);
  }
  node.inputs = WithContents(node.inputs);
  node.outputs = WithContents(node.outputs);
  if (captures > 0) node.attributes.Set(kCapturesAttribute, int64_t{captures});
  SLIPWAY_RETURN_IF_ERROR(
      RewriteBodiesOf(graph_, node, context_.registry, [this](const std::string&, Graph body) {
        return StringLowering(std::move(body), context_).Run(/*is_body=*/true);
      }));
  nodes_.push_back(std::move(node));
  return absl::OkStatus();
}

absl::StatusOr<Graph> StringLowering::Run(bool is_body) {
  // How nodes are written is asked while strings are still there.
  std::vector<std::optional<Graph>> written(graph_.nodes.size());
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(graph_, node, context_.registry));
    if (view.schema().body_rule != nullptr) continue;
    const std::vector<ValueType> outputs = TypesOf(graph_, node.outputs);
    if (!HasStrings(view, outputs)) continue;
    SLIPWAY_ASSIGN_OR_RETURN(written[n], WithoutStrings(view, outputs, context_.registry));
  }
  const auto values = static_cast<ValueId>(graph_.values.size());
  for (ValueId id = 0; id < values; ++id) {
    if (IsString(graph_.values[id])) SLIPWAY_RETURN_IF_ERROR(LowerValue(id));
  }
  graph_.inputs = WithContents(graph_.inputs);
  if (!is_body) {
    for (const ValueId id : graph_.inputs) {
      Value& value = graph_.values[id];
      if (value.type.has_value() || graph_.symbols.size() >= kMaxSymbols) continue;
      value.type =
          WithNamedExtents(value.name, ValueType(DataType::kUint8, {Dimension()}), graph_.symbols);
    }
  }
  std::vector<Node> nodes = std::move(graph_.nodes);
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (written[n].has_value()) {
      SLIPWAY_RETURN_IF_ERROR(Splice(nodes[n], *written[n]));
      continue;
    }
    const Node node = nodes[n];
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(graph_, node, context_.registry));
    if (view.schema().body_rule == nullptr) {
      nodes_.push_back(std::move(nodes[n]));
    } else {
      SLIPWAY_RETURN_IF_ERROR(LowerControl(std::move(nodes[n]), view));
    }
  }
  graph_.nodes = std::move(nodes_);
  if (is_body) {
    graph_.outputs = WithContents(graph_.outputs);
  } else {
    NameOutputContents();
  }
  return std::move(graph_);
}

void StringLowering::NameOutputContents() {
  std::vector<ValueId> outputs;
  for (const ValueId id : graph_.outputs) {
    outputs.push_back(id);
    const auto found = contents_.find(id);
    if (found == contents_.end()) continue;
    const std::string wanted = ContentsName(graph_.values[id].name);
    if (graph_.values[found->second].name == wanted) {
      outputs.push_back(found->second);
      continue;
    }
    Node copy;
    copy.op = "Identity";
    copy.inputs = {found->second};
    for (Value& value : graph_.values) {
      if (value.name == wanted) value.name = names_.Make(absl::StrCat(wanted, " unread"));
    }
    copy.outputs = {graph_.AddValue(wanted)};
    outputs.push_back(copy.outputs[0]);
    found->second = copy.outputs[0];
    graph_.nodes.push_back(std::move(copy));
  }
  graph_.outputs = std::move(outputs);
}

}  // namespace

absl::StatusOr<Graph> LowerStrings(Graph graph, const PassContext& context) {
  if (!HasStringValues(graph, context.registry)) return graph;
  SLIPWAY_ASSIGN_OR_RETURN(graph, StringLowering(std::move(graph), context).Run(/*is_body=*/false));
  DropUnusedValues(graph);
  return InferType(std::move(graph), context);
}

}  // namespace slipway
