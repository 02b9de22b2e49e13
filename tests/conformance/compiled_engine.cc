#include <memory>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/graph/graph.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "core/operators/sequence.h"
#include "core/passes/tell_elements.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "core/tensor/strings.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

// Shapes, axes and the like that a case passes as inputs: compiled programs have them as constants.
bool IsParameter(const Tensor& tensor) {
  return tensor.dtype() == DataType::kInt64 || tensor.dtype() == DataType::kBool;
}

class CompiledEngine final : public Engine {
 public:
  explicit CompiledEngine(Target target) : target_(std::move(target)) {}

  absl::Status Load(const OnnxFiles& files) override {
    SLIPWAY_ASSIGN_OR_RETURN(graph_, ImportOnnx(files, registry_));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) override {
    std::vector<Tensor> all(inputs.begin(), inputs.end());
    // A program is for sequences of known elements.
    Graph told = graph_;
    for (size_t i = 0; i < inputs.size() && i < graph_.inputs.size(); ++i) {
      if (IsPack(inputs[i])) {
        SLIPWAY_RETURN_IF_ERROR(TellElements(told, graph_.inputs[i], inputs[i]));
      }
    }
    absl::StatusOr<std::vector<Tensor>> outputs = CompileAndRun(told, all);
    if (!absl::IsUnimplemented(outputs.status()) || inputs.size() != graph_.inputs.size()) {
      return outputs;
    }
    Graph bound = told;
    bound.inputs.clear();
    std::vector<Tensor> rest;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsParameter(inputs[i])) {
        Value& parameter = bound.values[told.inputs[i]];
        parameter.type = ValueType(inputs[i].type());
        parameter.constant = inputs[i];
      } else {
        bound.inputs.push_back(told.inputs[i]);
        rest.push_back(inputs[i]);
      }
    }
    return CompileAndRun(bound, rest);
  }

 private:
  absl::StatusOr<std::vector<Tensor>> CompileAndRun(const Graph& graph,
                                                    absl::Span<const Tensor> inputs) {
    CompileEnvironment environment;
    environment.clock = &clock_;
    SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel compiled,
                             CompileGraph(graph, target_, {}, environment));
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program,
                             LoadProgram(compiled.artifact));
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context,
                             program->NewContext({}));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> numbers, WithoutStrings(graph, inputs));
    std::vector<Tensor> outputs(program->signature().outputs.size());
    SLIPWAY_RETURN_IF_ERROR(context->Run(numbers, absl::MakeSpan(outputs)));
    return WithStrings(program->signature(), outputs);
  }

  static absl::StatusOr<std::vector<Tensor>> WithoutStrings(const Graph& graph,
                                                            absl::Span<const Tensor> inputs) {
    std::vector<NamedTensor> named;
    for (size_t i = 0; i < inputs.size(); ++i) {
      named.push_back({graph.values[graph.inputs[i]].name, inputs[i]});
    }
    SLIPWAY_ASSIGN_OR_RETURN(named, SplitAllStrings(std::move(named)));
    return Tensors(std::move(named));
  }

  static absl::StatusOr<std::vector<Tensor>> WithStrings(const ProgramSignature& signature,
                                                         absl::Span<const Tensor> outputs) {
    std::vector<NamedTensor> named;
    for (size_t i = 0; i < outputs.size(); ++i) {
      named.push_back({signature.outputs[i].name, outputs[i]});
    }
    SLIPWAY_ASSIGN_OR_RETURN(named, JoinAllStrings(std::move(named)));
    return Tensors(std::move(named));
  }

  static std::vector<Tensor> Tensors(std::vector<NamedTensor> named) {
    std::vector<Tensor> tensors;
    for (NamedTensor& tensor : named) tensors.push_back(std::move(tensor.tensor));
    return tensors;
  }

  const Target target_;
  const OperatorRegistry registry_ = StandardOperators();
  const SystemClock clock_{};
  Graph graph_;
};

}  // namespace

std::unique_ptr<Engine> MakeCompiledEngine(const Target& target) {
  return std::make_unique<CompiledEngine>(target);
}

}  // namespace slipway
