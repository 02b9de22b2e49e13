// Engine: what a conformance run puts to the test.
#ifndef SLIPWAY_TESTS_CONFORMANCE_ENGINE_H_
#define SLIPWAY_TESTS_CONFORMANCE_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/artifact/artifact.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/target/target.h"
#include "core/tensor/tensor.h"

namespace slipway {

class Engine {
 public:
  virtual ~Engine() = default;
  // Takes the model; UNIMPLEMENTED for what it does not support. Run follows.
  virtual absl::Status Load(const OnnxFiles& files) = 0;
  // The outputs of the loaded model; UNIMPLEMENTED for what only shows when running.
  virtual absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) = 0;
};

// The importer and core/reference.
std::unique_ptr<Engine> MakeReferenceEngine();

// One run of what was compiled; strings are split (core/tensor/strings.h).
using RunArtifact =
    std::function<absl::StatusOr<std::vector<Tensor>>(const Artifact&, absl::Span<const Tensor>)>;

// By core/runtime: fails where this machine lacks what the artifact's target has.
absl::StatusOr<std::vector<Tensor>> RunHere(const Artifact& artifact,
                                            absl::Span<const Tensor> inputs);

// By an export for wasm-32 and Node, each in a process of its own. UNIMPLEMENTED for what is not exported.
absl::StatusOr<std::vector<Tensor>> RunInNode(const Artifact& artifact,
                                              absl::Span<const Tensor> inputs);

// The whole compiler, for `target`, and whoever runs what it makes.
std::unique_ptr<Engine> MakeCompiledEngine(const Target& target, RunArtifact run = RunHere);

// A server at this address and the devices it has: models, compiled for `target`, the server's own machine where it is "host",
// and tensors go there as any client's do. What it compiles differs from the engine above in that inputs are never taken for
// constants.
std::unique_ptr<Engine> MakeServerEngine(const std::string& address,
                                         const std::string& target = "host");

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_ENGINE_H_
