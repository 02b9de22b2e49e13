#include "tests/integration/small_models.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/graph/builder.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/passes/testing/random_graph.h"
#include "core/reference/reference.h"
#include "core/tensor/comparison.h"
#include "core/tensor/random.h"

namespace slipway::testing {
namespace {

const OperatorRegistry& Operators() {
  static const OperatorRegistry& registry = *new OperatorRegistry(StandardOperators());
  return registry;
}

Graph Checked(absl::StatusOr<Graph> graph) {
  SLIPWAY_CHECK(graph.ok(), graph.status().message());
  return *std::move(graph);
}

// Between -0.5 and 0.5.
Tensor Weights(const Shape& shape, uint64_t seed, const std::string& name) {
  absl::StatusOr<Tensor> tensor = RandomTensor({DataType::kFloat32, shape}, seed, name);
  SLIPWAY_CHECK(tensor.ok(), tensor.status().message());
  for (float& value : tensor->mutable_values<float>()) value -= 0.5f;
  return *std::move(tensor);
}

}  // namespace

Graph TinyGraph() {
  GraphBuilder builder("tiny", Operators());
  const ValueId x = builder.Input("x", DataType::kFloat32, {1, 8});
  const ValueId b = builder.Constant("b", Weights({8}, 1, "b"));
  builder.Output(builder.AddNamed("y", "Relu", {builder.Add("Add", {x, b})}));
  return Checked(std::move(builder).Build());
}

Graph ConvChain(int layers, uint64_t seed) {
  GraphBuilder builder(absl::StrCat("chain", layers), Operators());
  ValueId x = builder.Input("x", DataType::kFloat32, {1, 4, 8, 8});
  int64_t channels = 4;
  for (int i = 0; i < layers; ++i) {
    const int64_t next = 4 + i;
    const std::string name = absl::StrCat("w", i);
    const ValueId w = builder.Constant(name, Weights({next, channels, 3, 3}, seed, name));
    x = builder.Add("Relu", {builder.Add("Conv", {x, w}, {{"pads", Ints({1, 1, 1, 1})}})});
    channels = next;
  }
  builder.Output(x);
  return Checked(std::move(builder).Build());
}

Graph RandomModel(uint64_t seed) { return Checked(RandomGraph(Operators(), seed)); }

std::string WriteModel(const TempTree& tree, const std::string& name, const Graph& graph) {
  return tree.Write(absl::StrCat(name, ".graph"), Print(graph));
}

std::vector<NamedTensor> RandomNamedInputs(const Graph& graph, uint64_t seed) {
  std::vector<NamedTensor> inputs;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    absl::StatusOr<Tensor> tensor = RandomTensor(value.type->tensor(), seed, value.name);
    SLIPWAY_CHECK(tensor.ok(), tensor.status().message());
    inputs.push_back({value.name, *std::move(tensor)});
  }
  return inputs;
}

absl::StatusOr<std::vector<NamedTensor>> ReferenceOutputs(const Graph& graph,
                                                          const std::vector<NamedTensor>& inputs) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& input : inputs) tensors.push_back(input.tensor);
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                           Reference(Operators()).Evaluate(graph, tensors));
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < outputs.size(); ++i) {
    named.push_back({graph.value(graph.outputs[i]).name, std::move(outputs[i])});
  }
  return named;
}

absl::Status CheckOutputs(const std::vector<NamedTensor>& actual,
                          const std::vector<NamedTensor>& expected) {
  if (actual.size() != expected.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(actual.size(), " outputs where ", expected.size(), " are expected"));
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i].name != expected[i].name) {
      return absl::FailedPreconditionError(absl::StrCat(
          "output ", i, " is \"", actual[i].name, "\" instead of \"", expected[i].name, "\""));
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckClose(actual[i].tensor, expected[i].tensor, {}),
                                 absl::StrCat("output \"", actual[i].name, "\""));
  }
  return absl::OkStatus();
}

}  // namespace slipway::testing
