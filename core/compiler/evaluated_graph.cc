#include "core/compiler/evaluated_graph.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/compiler/limits.h"
#include "core/graph/verifier.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<Tensor>> InOrder(const Graph& graph,
                                            absl::Span<const NamedTensor> inputs) {
  absl::flat_hash_map<absl::string_view, const Tensor*> given;
  for (const NamedTensor& input : inputs) {
    if (given.emplace(input.name, &input.tensor).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("input \"", absl::Utf8SafeCEscape(input.name), "\" is given twice"));
  }
  std::vector<Tensor> tensors;
  for (const ValueId id : graph.inputs) {
    const std::string& name = graph.value(id).name;
    const auto found = given.find(name);
    if (found == given.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the model has an input \"", absl::Utf8SafeCEscape(name),
                       "\", which is not among what it is to be evaluated for"));
    }
    tensors.push_back(*found->second);
    given.erase(found);
  }
  if (given.empty()) return tensors;
  return absl::InvalidArgumentError(
      absl::StrCat("the model has no input \"", absl::Utf8SafeCEscape(given.begin()->first), "\""));
}

// As Reference::Evaluate, node by node, since that bounds no work. What nobody reads any more is given back.
absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, const std::vector<Tensor>& inputs,
                                             const Reference& reference) {
  std::vector<int> readers(graph.values.size(), 0);
  std::vector<Tensor> values(graph.values.size());
  for (size_t id = 0; id < values.size(); ++id) {
    if (graph.values[id].constant.has_value()) values[id] = *graph.values[id].constant;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = graph.value(graph.inputs[i]);
    if (input.type.has_value() && Contradict(*input.type, inputs[i].type())) {
      return absl::InvalidArgumentError(absl::StrCat("input \"", absl::Utf8SafeCEscape(input.name),
                                                     "\" must be ", ToString(*input.type), ", not ",
                                                     ToString(inputs[i].type())));
    }
    values[graph.inputs[i]] = inputs[i];
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) ++readers[id];
    }
  }
  for (const ValueId id : graph.outputs) ++readers[id];
  int64_t work_left = kMaxEvaluationWork;
  for (const Node& node : graph.nodes) {
    std::vector<Tensor> node_inputs(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue) node_inputs[i] = values[node.inputs[i]];
    }
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                             reference.EvaluateNode(graph, node, node_inputs, work_left));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) values[node.outputs[i]] = std::move(outputs[i]);
    }
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && --readers[id] == 0) values[id] = Tensor();
    }
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(values[id]);
  return outputs;
}

}  // namespace

absl::StatusOr<Graph> EvaluatedGraph(const Graph& graph, absl::Span<const NamedTensor> inputs,
                                     const OperatorRegistry& registry, const Reference& reference) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> in_order, InOrder(graph, inputs));
  SLIPWAY_RETURN_IF_ERROR(Verify(graph, registry));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<Tensor> outputs, Evaluate(graph, in_order, reference),
                                "evaluating the model");
  Graph evaluated;
  evaluated.name = graph.name;
  evaluated.opset = graph.opset;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.value(graph.outputs[i]).name;
    if (outputs[i].dtype() == DataType::kString) {
      return absl::UnimplementedError(absl::StrCat("output \"", absl::Utf8SafeCEscape(name),
                                                   "\" is of strings, which are not compared"));
    }
    evaluated.outputs.push_back(evaluated.AddConstant(name, std::move(outputs[i])));
  }
  return evaluated;
}

}  // namespace slipway
