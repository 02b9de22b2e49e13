#include "core/base/status_macros.h"
#include "core/graph/graph.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

class ReferenceEngine final : public Engine {
 public:
  absl::Status Load(const OnnxFiles& files) override {
    SLIPWAY_ASSIGN_OR_RETURN(graph_, ImportOnnx(files, registry_));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) override {
    return reference_.Evaluate(graph_, inputs);
  }

 private:
  const OperatorRegistry registry_ = StandardOperators();
  const Reference reference_{registry_};
  Graph graph_;
};

}  // namespace

std::unique_ptr<Engine> MakeReferenceEngine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace slipway
