#include <algorithm>
#include <memory>
#include <optional>
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

class CompiledEngine final : public Engine {
 public:
  CompiledEngine(Target target, RunArtifact run)
      : target_(std::move(target)), run_(std::move(run)) {}

  absl::Status Load(const OnnxFiles& files) override {
    artifact_.reset();
    SLIPWAY_ASSIGN_OR_RETURN(graph_, ImportOnnx(files, registry_));
    return absl::OkStatus();
  }

  // Compiles once, for inputs of any extents that the model leaves open. But a program is for sequences of known
  // elements: a model that takes some is compiled anew for what it is given.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) override {
    const bool has_packs = std::any_of(inputs.begin(), inputs.end(), IsPack);
    if (!artifact_.has_value() || has_packs) {
      SLIPWAY_ASSIGN_OR_RETURN(artifact_, Compile(inputs));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> numbers, WithoutStrings(graph_, inputs));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, run_(*artifact_, numbers));
    return WithStrings(artifact_->manifest().signature(), outputs);
  }

 private:
  absl::StatusOr<Artifact> Compile(absl::Span<const Tensor> inputs) {
    Graph told = graph_;
    for (size_t i = 0; i < inputs.size() && i < graph_.inputs.size(); ++i) {
      if (IsPack(inputs[i])) {
        SLIPWAY_RETURN_IF_ERROR(TellElements(told, graph_.inputs[i], inputs[i]));
      }
    }
    CompileEnvironment environment;
    environment.clock = &clock_;
    SLIPWAY_ASSIGN_OR_RETURN(CompiledModel compiled, CompileGraph(told, target_, {}, environment));
    return std::move(compiled.artifact);
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
  const RunArtifact run_;
  const OperatorRegistry registry_ = StandardOperators();
  const SystemClock clock_{};
  Graph graph_;
  std::optional<Artifact> artifact_;
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunHere(const Artifact& artifact,
                                            absl::Span<const Tensor> inputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, LoadProgram(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  std::vector<Tensor> outputs(program->signature().outputs.size());
  SLIPWAY_RETURN_IF_ERROR(context->Run(inputs, absl::MakeSpan(outputs)));
  return outputs;
}

std::unique_ptr<Engine> MakeCompiledEngine(const Target& target, RunArtifact run) {
  return std::make_unique<CompiledEngine>(target, std::move(run));
}

}  // namespace slipway
