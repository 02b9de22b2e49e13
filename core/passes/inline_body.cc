#include "core/passes/inline_body.h"

namespace slipway {

std::vector<Node> InlineBody(const Graph& body, absl::Span<const ValueId> inputs,
                             absl::Span<const ValueId> outputs, Graph& graph, UniqueNames& names) {
  std::vector<ValueId> here(body.values.size(), kNoValue);
  std::vector<bool> handed_on(outputs.size(), false);
  const std::vector<NodeId> producers = Producers(body);
  for (size_t i = 0; i < inputs.size(); ++i) here[body.inputs[i]] = inputs[i];
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId made = body.outputs[i];
    handed_on[i] = producers[made] == kNoNode || here[made] != kNoValue;
    if (!handed_on[i]) here[made] = outputs[i];
  }
  for (size_t id = 0; id < here.size(); ++id) {
    if (here[id] != kNoValue) continue;
    const Value& value = body.values[id];
    here[id] = graph.AddValue(names.Make(value.name), value.type);
    graph.values[here[id]].constant = value.constant;
  }
  std::vector<Node> nodes = body.nodes;
  for (Node& node : nodes) {
    for (std::vector<ValueId>* ids : {&node.inputs, &node.outputs}) {
      for (ValueId& id : *ids) {
        if (id != kNoValue) id = here[id];
      }
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!handed_on[i] || outputs[i] == kNoValue) continue;
    nodes.push_back(Node{"", "Identity", {here[body.outputs[i]]}, {outputs[i]}, {}});
  }
  return nodes;
}

}  // namespace slipway
