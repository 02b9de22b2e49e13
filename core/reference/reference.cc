#include "core/reference/reference.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/reference/register_all.h"
#include "core/reference/string_nodes.h"
#include "core/reference/work.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

KernelColumn StandardKernels() {
  KernelColumn kernels;
  const absl::Status registered = RegisterAllKernels(kernels);
  SLIPWAY_CHECK(registered.ok(), registered.message());
  return kernels;
}

absl::Status CheckInputs(const Graph& graph, absl::Span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat("graph \"", graph.name, "\" has ",
                                                   graph.inputs.size(), " inputs, ", inputs.size(),
                                                   " were given"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = graph.values[graph.inputs[i]];
    if (!inputs[i].is_set()) {
      return absl::InvalidArgumentError(absl::StrCat("input \"", input.name, "\" is not set"));
    }
    if (input.type.has_value() && Contradict(*input.type, inputs[i].type())) {
      return absl::InvalidArgumentError(absl::StrCat("input \"", input.name, "\" must be ",
                                                     ToString(*input.type), ", not ",
                                                     ToString(inputs[i].type())));
    }
  }
  return absl::OkStatus();
}

// Per value the number of times something still reads it.
std::vector<int> CountReaders(const Graph& graph) {
  std::vector<int> readers(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) ++readers[id];
    }
  }
  for (const ValueId id : graph.outputs) ++readers[id];
  return readers;
}

}  // namespace

// One call, whose loops share one number of turns, and all nodes the work that may be done.
class Reference::Evaluation final : public BodyEvaluator {
 public:
  Evaluation(const Reference& reference, int64_t& work_left)
      : registry_(reference.registry_),
        kernels_(reference.kernels_),
        turns_(reference.options_.loop_turns),
        turns_left_(turns_),
        work_left_(work_left) {}

  absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph,
                                               absl::Span<const Tensor> inputs) override;
  absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, const Node& node,
                                                   absl::Span<const Tensor> inputs);
  // Of a node that reads or makes strings.
  absl::StatusOr<std::vector<Tensor>> EvaluateStrings(const NodeView& view,
                                                      absl::Span<const ValueType> types,
                                                      absl::Span<const Tensor> inputs);
  absl::Status BeginTurn() override {
    if (turns_left_-- > 0) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("loops made more than ", turns_,
                     " turns, which is the limit: raise it if they are to end at all"));
  }

 private:
  // Before the node is evaluated.
  absl::Status BeginWork(const NodeView& view, absl::Span<const ValueType> outputs) {
    const int64_t work = WorkOf(view, outputs);
    if (work <= work_left_) {
      work_left_ -= work;
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("node \"", view.display_name(), "\" (", view.op(), ") takes ",
                     work == kBoundlessWork ? "nobody knows how many" : absl::StrCat(work),
                     " steps, more than the ", work_left_, " that are left"));
  }

  const OperatorRegistry& registry_;
  const KernelColumn& kernels_;
  const int64_t turns_;
  int64_t turns_left_;
  int64_t& work_left_;
};

Reference::Reference(const OperatorRegistry& registry, const ReferenceOptions& options)
    : Reference(registry, StandardKernels(), options) {}

Reference::Reference(const OperatorRegistry& registry, KernelColumn kernels,
                     const ReferenceOptions& options)
    : registry_(registry), kernels_(std::move(kernels)), options_(options) {}

bool Reference::Supports(absl::string_view op) const {
  return kernels_.Find(op) != nullptr || HasStringRule(op);
}

const CallableKernel* Reference::FindCallable(absl::string_view op) const {
  const Kernel* kernel = kernels_.Find(op);
  return kernel != nullptr && kernel->callable.has_value() ? &*kernel->callable : nullptr;
}

absl::StatusOr<std::vector<Tensor>> Reference::Evaluate(const Graph& graph,
                                                        absl::Span<const Tensor> inputs) const {
  int64_t boundless = kBoundlessWork;
  return Evaluation(*this, boundless).Evaluate(graph, inputs);
}

absl::StatusOr<std::vector<Tensor>> Reference::EvaluateNode(const Graph& graph, const Node& node,
                                                            absl::Span<const Tensor> inputs) const {
  int64_t boundless = kBoundlessWork;
  return EvaluateNode(graph, node, inputs, boundless);
}

absl::StatusOr<std::vector<Tensor>> Reference::EvaluateNode(const Graph& graph, const Node& node,
                                                            absl::Span<const Tensor> inputs,
                                                            int64_t& work_left) const {
  return Evaluation(*this, work_left).EvaluateNode(graph, node, inputs);
}

absl::StatusOr<std::vector<Tensor>> Reference::Evaluation::EvaluateNode(
    const Graph& graph, const Node& node, absl::Span<const Tensor> inputs) {
  SLIPWAY_CHECK(inputs.size() == node.inputs.size(), "one tensor a node input");
  std::vector<ValueType> input_types(inputs.size());
  std::vector<const ValueType*> types(inputs.size(), nullptr);
  std::vector<const Tensor*> values(inputs.size(), nullptr);
  const OperatorSchema* schema = registry_.Find(node.op);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_set()) {
      input_types[i] = inputs[i].type();
      values[i] = &inputs[i];
    } else if (node.inputs[i] != kNoValue && schema != nullptr && schema->reads_types_only) {
      const std::optional<ValueType>& type = graph.values[node.inputs[i]].type;
      if (!type.has_value()) continue;
      input_types[i] = *type;
    } else {
      continue;
    }
    types[i] = &input_types[i];
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      const NodeView view,
      NodeView::Create(node, registry_, DisplayName(graph, node), std::move(types), values));
  const Kernel* kernel = kernels_.Find(node.op);
  if (kernel != nullptr && kernel->evaluate_bodies != nullptr) {
    SLIPWAY_RETURN_IF_ERROR(BeginWork(view, {}));
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                             kernel->evaluate_bodies(view, inputs, *this));
    outputs.resize(node.outputs.size());
    return outputs;
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<ValueType> output_types, InferNodeTypes(view));
  if (HasStrings(view, output_types)) return EvaluateStrings(view, output_types, inputs);
  if (kernel == nullptr) return view.Unimplemented("the reference has no kernel for it");
  SLIPWAY_RETURN_IF_ERROR(BeginWork(view, output_types));
  const auto is_open = [](const ValueType& type) { return !type.is_static(); };
  if (kernel->callable.has_value() && kernel->callable->extents != nullptr &&
      std::any_of(output_types.begin(), output_types.end(), is_open)) {
    SLIPWAY_ASSIGN_OR_RETURN(output_types,
                             FindExtents(*kernel->callable, view, values, std::move(output_types)));
  }

  std::vector<Tensor> outputs(node.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    // What a rule leaves open the graph may state.
    const std::optional<ValueType>& stated = graph.values[node.outputs[i]].type;
    if (!output_types[i].is_static() && stated.has_value() && stated->is_static()) {
      output_types[i] = *stated;
    }
    if (!output_types[i].is_static()) {
      return view.Unimplemented(absl::StrCat("output ", i, " is ", ToString(output_types[i]),
                                             ", whose extents only running finds out"));
    }
    auto output = Tensor::Create(output_types[i].tensor());
    if (!output.ok()) return view.Annotated(output.status());
    outputs[i] = *std::move(output);
  }
  SLIPWAY_RETURN_IF_ERROR(kernel->evaluate(KernelCall{view, values, absl::MakeSpan(outputs)}));
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> Reference::Evaluation::EvaluateStrings(
    const NodeView& view, absl::Span<const ValueType> types, absl::Span<const Tensor> inputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const Graph graph, WithoutStrings(view, types, registry_));
  std::vector<Tensor> numbers;
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (!view.has_input(i)) continue;
    // What reads types alone may be given none of the values.
    if (!inputs[i].is_set()) return view.Unimplemented("the reference needs the strings");
    if (inputs[i].dtype() != DataType::kString) {
      numbers.push_back(inputs[i]);
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(StringParts parts, SplitStrings(inputs[i]));
    numbers.push_back(std::move(parts.places));
    numbers.push_back(std::move(parts.contents));
  }
  auto made = Evaluate(graph, numbers);
  if (!made.ok()) return view.Annotated(made.status());
  std::vector<Tensor> outputs(view.node().outputs.size());
  size_t next = 0;
  for (int i = 0; i < view.num_outputs(); ++i) {
    if (!view.has_output(i)) continue;
    outputs[i] = std::move((*made)[next++]);
    if (types[i].dtype() != DataType::kString) continue;
    auto joined = JoinStrings({outputs[i], (*made)[next++]});
    if (!joined.ok()) return view.Annotated(joined.status());
    outputs[i] = *std::move(joined);
  }
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> Reference::Evaluation::Evaluate(
    const Graph& graph, absl::Span<const Tensor> inputs) {
  SLIPWAY_RETURN_IF_ERROR(CheckInputs(graph, inputs));
  std::vector<Tensor> values(graph.values.size());
  for (size_t id = 0; id < values.size(); ++id) {
    if (graph.values[id].constant.has_value()) values[id] = *graph.values[id].constant;
  }
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];

  std::vector<int> readers = CountReaders(graph);
  for (const Node& node : graph.nodes) {
    std::vector<Tensor> node_inputs(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      node_inputs[i] = values[node.inputs[i]];
      if (!node_inputs[i].is_set()) {
        return absl::InvalidArgumentError(
            absl::StrCat("node \"", DisplayName(graph, node), "\" (", node.op, ") reads \"",
                         graph.values[node.inputs[i]].name, "\", which has no value yet"));
      }
    }
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, EvaluateNode(graph, node, node_inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) values[node.outputs[i]] = std::move(outputs[i]);
    }
    // Memory is given back with the last reader.
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && --readers[id] == 0) values[id] = Tensor();
    }
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) {
    if (!values[id].is_set()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output \"", graph.values[id].name, "\" is made by no node"));
    }
    outputs.push_back(values[id]);
  }
  return outputs;
}

}  // namespace slipway
