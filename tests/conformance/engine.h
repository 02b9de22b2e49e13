// Engine: what a conformance run puts to the test.
#ifndef SLIPWAY_TESTS_CONFORMANCE_ENGINE_H_
#define SLIPWAY_TESTS_CONFORMANCE_ENGINE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
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

// The whole compiler, for `target`, and core/runtime. Run fails where this machine lacks what the target
// has.
std::unique_ptr<Engine> MakeCompiledEngine(const Target& target);

// A server at this address and the devices it has: models, compiled for `target`, the server's own machine where it is "host",
// and tensors go there as any client's do. What it compiles differs from the engine above in that inputs are never taken for
// constants.
std::unique_ptr<Engine> MakeServerEngine(const std::string& address,
                                         const std::string& target = "host");

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_ENGINE_H_
