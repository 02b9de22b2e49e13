#include "core/passes/known_sequences.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/control.h"
#include "core/passes/inline_body.h"
#include "core/passes/limits.h"

namespace slipway {
namespace {

Node NodeOf(absl::string_view op, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
            Attributes attributes = {}) {
  return Node{"", std::string(op), std::move(inputs), std::move(outputs), std::move(attributes)};
}

Tensor List(std::vector<int64_t> values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

// A tensor that is no pack, whatever its values are.
bool IsPlain(const ValueType& type) { return type.dtype() != DataType::kUint8 || type.rank() != 1; }

// Whether the body of a Loop always goes on: it hands on the condition that it is given, or says true.
bool AlwaysGoesOn(const NodeView& view, const Graph& body) {
  ValueId id = body.outputs[0];
  const std::vector<NodeId> producers = Producers(body);
  while (producers[id] != kNoNode && body.nodes[producers[id]].op == "Identity") {
    id = body.nodes[producers[id]].inputs[0];
  }
  if (id == body.inputs[1]) return true;
  const std::optional<Tensor>& constant = body.values[id].constant;
  if (!constant.has_value()) return false;
  const auto holds = Holds(view, *constant);
  return holds.ok() && *holds;
}

}  // namespace

const KnownSequences::Sequence* KnownSequences::Find(ValueId id) const {
  const auto found = known_.find(id);
  return found == known_.end() ? nullptr : &found->second;
}

const KnownSequences::Elements* KnownSequences::FindElements(ValueId id) const {
  const Sequence* found = Find(id);
  if (found != nullptr && found->kind == PackKind::kOptional) {
    found = found->elements.empty() ? nullptr : Find(found->elements[0]);
  }
  return found == nullptr ? nullptr : &found->elements;
}

void KnownSequences::Learn(ValueId id, PackKind kind, Elements elements) {
  if (!graph_.values[id].type.has_value()) graph_.values[id].type = PackType();
  known_[id] = {kind, std::move(elements)};
}

ValueId KnownSequences::NewConstant(const NodeView& view, Tensor tensor) {
  return graph_.AddConstant(names_.Make(absl::StrCat(view.display_name(), " constant")),
                            std::move(tensor));
}

ValueId KnownSequences::NewValue(const NodeView& view) {
  return graph_.AddValue(names_.Make(absl::StrCat(view.display_name(), " element")));
}

bool KnownSequences::MayUnroll(int64_t turns, const Graph& body) {
  const int64_t nodes = std::ssize(body.nodes) + 1;
  if (turns > nodes_left_ / nodes) return false;
  nodes_left_ -= turns * nodes;
  return true;
}

void KnownSequences::PackInto(ValueId id, Nodes& nodes) {
  const Sequence* sequence = Find(id);
  if (sequence == nullptr || !packed_.insert(id).second) return;
  for (const ValueId element : sequence->elements) PackInto(element, nodes);
  nodes.push_back(NodeOf(kPackElementsOperator, sequence->elements, {id},
                         {{"kind", static_cast<int64_t>(sequence->kind)}}));
}

std::vector<Node> KnownSequences::PackOutputs() {
  Nodes nodes;
  for (const ValueId id : graph_.outputs) PackInto(id, nodes);
  return nodes;
}

absl::StatusOr<std::optional<std::vector<Node>>> KnownSequences::Rewrite(const Node& node) {
  const bool makes_several = node.op == kLoopOperator || node.op == "SequenceMap";
  if (node.op == kPackElementsOperator || node.outputs.empty() ||
      (node.outputs[0] == kNoValue && !makes_several)) {
    return std::nullopt;
  }
  const bool makes_one = node.op == "SequenceConstruct" || node.op == "SequenceEmpty" ||
                         node.op == "Optional" || node.op == "SplitToSequence";
  const bool asks = node.op == "OptionalHasElement" || node.op == "OptionalGetElement";
  const auto is_known = [this](ValueId id) { return Find(id) != nullptr; };
  if (!makes_one && !asks && std::none_of(node.inputs.begin(), node.inputs.end(), is_known)) {
    return std::nullopt;
  }
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph_, node, registry_));
  SLIPWAY_ASSIGN_OR_RETURN(std::optional<Nodes> nodes, RewriteKnown(node, view));
  if (nodes.has_value()) return nodes;
  Nodes packing;
  for (const ValueId id : node.inputs) PackInto(id, packing);
  if (packing.empty()) return std::nullopt;
  packing.push_back(node);
  return packing;
}

KnownSequences::Rewritten KnownSequences::RewriteKnown(const Node& node, const NodeView& view) {
  if (node.op == "SequenceConstruct" || node.op == "SequenceEmpty") {
    Learn(node.outputs[0], PackKind::kSequence, node.inputs);
    return Nodes();
  }
  if (node.op == "Optional") {
    Learn(node.outputs[0], PackKind::kOptional,
          view.has_input(0) ? node.inputs : std::vector<ValueId>());
    return Nodes();
  }
  if (node.op == "Identity") {
    const Sequence same = *Find(node.inputs[0]);
    Learn(node.outputs[0], same.kind, same.elements);
    return Nodes();
  }
  if (node.op == "SplitToSequence") return Split(node, view);
  if (node.op == "OptionalHasElement") return HasElement(node, view);
  if (node.op == "OptionalGetElement") return GetElement(node, view);
  if (node.op == kLoopOperator) return Loop(node, view);
  if (FindElements(node.inputs[0]) == nullptr) return std::nullopt;
  if (node.op == "SequenceLength") {
    const int64_t length = std::ssize(*FindElements(node.inputs[0]));
    return Nodes{NodeOf("Identity", {NewConstant(view, Tensor::Scalar(length))}, node.outputs)};
  }
  if (node.op == "SequenceAt") return At(node, view);
  if (node.op == "SequenceInsert") return Insert(node, view);
  if (node.op == "SequenceErase") return Erase(node, view);
  if (node.op == "ConcatFromSequence") return Concat(node, view);
  if (node.op == "SequenceMap") return Map(node, view);
  return std::nullopt;
}

KnownSequences::Rewritten KnownSequences::At(const Node& node, const NodeView& view) {
  if (view.constant(1) == nullptr) return std::nullopt;
  const Elements& elements = *FindElements(node.inputs[0]);
  const int64_t size = std::ssize(elements);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const int64_t position,
                                PositionIn(*view.constant(1), size, size - 1), view.display_name());
  return Nodes{NodeOf("Identity", {elements[position]}, node.outputs)};
}

KnownSequences::Rewritten KnownSequences::Insert(const Node& node, const NodeView& view) {
  Elements elements = *FindElements(node.inputs[0]);
  int64_t position = std::ssize(elements);
  if (position >= kMaxKnownElements) return std::nullopt;
  if (view.has_input(2)) {
    if (view.constant(2) == nullptr) return std::nullopt;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(position, PositionIn(*view.constant(2), position, position),
                                  view.display_name());
  }
  elements.insert(elements.begin() + position, node.inputs[1]);
  Learn(node.outputs[0], PackKind::kSequence, std::move(elements));
  return Nodes();
}

KnownSequences::Rewritten KnownSequences::Erase(const Node& node, const NodeView& view) {
  Elements elements = *FindElements(node.inputs[0]);
  const int64_t size = std::ssize(elements);
  if (size == 0) return view.Error("there is nothing to erase");
  int64_t position = size - 1;
  if (view.has_input(1)) {
    if (view.constant(1) == nullptr) return std::nullopt;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(position, PositionIn(*view.constant(1), size, size - 1),
                                  view.display_name());
  }
  elements.erase(elements.begin() + position);
  Learn(node.outputs[0], PackKind::kSequence, std::move(elements));
  return Nodes();
}

KnownSequences::Rewritten KnownSequences::Concat(const Node& node, const NodeView& view) {
  Elements elements = *FindElements(node.inputs[0]);
  if (elements.empty()) return view.Error("of an empty sequence there is nothing to join");
  Nodes nodes;
  if (view.Int("new_axis") != 0) {
    const ValueId axes = NewConstant(view, List({view.Int("axis")}));
    for (ValueId& element : elements) {
      const ValueId whole = NewValue(view);
      nodes.push_back(NodeOf("Unsqueeze", {element, axes}, {whole}));
      element = whole;
    }
  }
  nodes.push_back(NodeOf("Concat", elements, node.outputs, {{"axis", view.Int("axis")}}));
  return nodes;
}

KnownSequences::Rewritten KnownSequences::Split(const Node& node, const NodeView& view) {
  const int64_t rank = view.input_type(0).rank();
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(view, view.Int("axis"), rank));
  const Dimension extent = view.input_type(0).dimension(static_cast<int>(axis));
  const bool has_parts = view.has_input(1);
  if (!extent.is_known() || (has_parts && view.constant(1) == nullptr)) return std::nullopt;
  const bool has_list = has_parts && view.input_type(1).rank() > 0;
  if (!has_list && extent.extent() > kMaxKnownElements) return std::nullopt;
  const auto parts = PartsOf(has_parts ? view.constant(1) : nullptr, extent.extent());
  if (!parts.ok()) return view.Annotated(parts.status());
  if (parts->empty() || std::ssize(*parts) > kMaxKnownElements) return std::nullopt;
  Elements elements;
  for (size_t i = 0; i < parts->size(); ++i) elements.push_back(NewValue(view));
  Nodes nodes = {NodeOf("Split", {node.inputs[0], NewConstant(view, List(*parts))}, elements,
                        {{"axis", axis}})};
  if (!has_parts && view.Int("keepdims") == 0) {
    const ValueId axes = NewConstant(view, List({axis}));
    for (ValueId& element : elements) {
      const ValueId slice = NewValue(view);
      nodes.push_back(NodeOf("Squeeze", {element, axes}, {slice}));
      element = slice;
    }
  }
  Learn(node.outputs[0], PackKind::kSequence, std::move(elements));
  return nodes;
}

// As the reference maps: other sequences are as long as the first, what is none is handed on.
KnownSequences::Rewritten KnownSequences::Map(const Node& node, const NodeView& view) {
  const Graph& body = view.Body("body");
  const int64_t captured = view.Int(kCapturesAttribute);
  const size_t outputs = node.outputs.size();
  const size_t turns = FindElements(node.inputs[0])->size();
  if (captured < 0 || captured >= std::ssize(node.inputs) || body.outputs.size() < outputs ||
      body.inputs.size() != node.inputs.size()) {
    return view.Error("its body does not fit it");
  }
  std::vector<const Elements*> sequences(node.inputs.size(), nullptr);
  for (size_t i = 0; i < node.inputs.size() - static_cast<size_t>(captured); ++i) {
    sequences[i] = FindElements(node.inputs[i]);
    if (sequences[i] == nullptr && !IsPlain(view.input_type(static_cast<int>(i)))) {
      return std::nullopt;
    }
    if (sequences[i] != nullptr && sequences[i]->size() != turns) {
      return view.Error(
          absl::StrCat("maps sequences of ", turns, " and ", sequences[i]->size(), " elements"));
    }
  }
  if (!MayUnroll(static_cast<int64_t>(turns), body)) return std::nullopt;
  Nodes nodes;
  std::vector<Elements> made(outputs);
  for (size_t turn = 0; turn < turns; ++turn) {
    std::vector<ValueId> inputs = node.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (sequences[i] != nullptr) inputs[i] = (*sequences[i])[turn];
    }
    std::vector<ValueId> results;
    for (Elements& elements : made) results.push_back(elements.emplace_back(NewValue(view)));
    const Nodes inlined = InlineBody(body, inputs, results, graph_, names_);
    nodes.insert(nodes.end(), inlined.begin(), inlined.end());
  }
  for (size_t i = 0; i < outputs; ++i) {
    if (node.outputs[i] != kNoValue) Learn(node.outputs[i], PackKind::kSequence, made[i]);
  }
  return nodes;
}

KnownSequences::Rewritten KnownSequences::HasElement(const Node& node, const NodeView& view) {
  bool has = view.has_input(0);
  if (has) {
    const Sequence* known = Find(node.inputs[0]);
    if (known == nullptr && !IsPlain(view.input_type(0))) return std::nullopt;
    has = known == nullptr || known->kind == PackKind::kSequence || !known->elements.empty();
  }
  return Nodes{NodeOf("Identity", {NewConstant(view, Tensor::Scalar(has))}, node.outputs)};
}

KnownSequences::Rewritten KnownSequences::GetElement(const Node& node, const NodeView& view) {
  const Sequence* known = Find(node.inputs[0]);
  if (known == nullptr && !IsPlain(view.input_type(0))) return std::nullopt;
  ValueId element = node.inputs[0];
  if (known != nullptr && known->kind == PackKind::kOptional) {
    if (known->elements.empty()) return view.Error("the optional has no element");
    element = known->elements[0];
  }
  return Nodes{NodeOf("Identity", {element}, node.outputs)};
}

KnownSequences::Rewritten KnownSequences::Loop(const Node& node, const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
  const Graph& body = *loop.body;
  if (view.constant(0) == nullptr || view.constant(1) == nullptr || !AlwaysGoesOn(view, body)) {
    return std::nullopt;
  }
  SLIPWAY_ASSIGN_OR_RETURN(int64_t turns, TurnsAtMost(view, *view.constant(0)));
  SLIPWAY_ASSIGN_OR_RETURN(const bool begins, Holds(view, *view.constant(1)));
  turns = begins ? std::max<int64_t>(turns, 0) : 0;
  if ((turns == 0 && !loop.collected.empty()) || !MayUnroll(turns, body)) return std::nullopt;
  Nodes nodes;
  std::vector<ValueId> inputs = node.inputs;
  inputs[1] = NewConstant(view, Tensor::Scalar(true));
  const auto first = inputs.begin() + loop.first_carried;
  std::vector<Elements> collected(loop.collected.size());
  for (int64_t turn = 0; turn < turns; ++turn) {
    inputs[0] = NewConstant(view, Tensor::Scalar(turn));
    std::vector<ValueId> outputs = {kNoValue};
    for (int i = 0; i < loop.carried; ++i) outputs.push_back(NewValue(view));
    for (Elements& slices : collected) outputs.push_back(slices.emplace_back(NewValue(view)));
    const Nodes inlined = InlineBody(body, inputs, outputs, graph_, names_);
    nodes.insert(nodes.end(), inlined.begin(), inlined.end());
    std::copy_n(outputs.begin() + 1, loop.carried, first);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const int slices = static_cast<int>(i) - loop.carried;
    if (node.outputs[i] == kNoValue) continue;
    if (slices < 0) {
      nodes.push_back(NodeOf("Identity", {first[static_cast<int64_t>(i)]}, {node.outputs[i]}));
      continue;
    }
    const ValueId axes = NewConstant(view, List({0}));
    for (ValueId& slice : collected[slices]) {
      const ValueId whole = NewValue(view);
      nodes.push_back(NodeOf("Unsqueeze", {slice, axes}, {whole}));
      slice = whole;
    }
    nodes.push_back(NodeOf("Concat", collected[slices], {node.outputs[i]}, {{"axis", int64_t{0}}}));
  }
  return nodes;
}

}  // namespace slipway
