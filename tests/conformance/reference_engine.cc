#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"
#include "core/graph/graph.h"
#include "core/operators/register_all.h"
#include "core/operators/training.h"
#include "core/passes/expand_gradients_pass.h"
#include "core/passes/infer_type_pass.h"
#include "core/reference/reference.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

class ReferenceEngine final : public Engine {
 public:
  absl::Status Load(const OnnxFiles& files) override {
    SLIPWAY_ASSIGN_OR_RETURN(graph_, ImportOnnx(files, registry_));
    const bool has_gradients =
        std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                    [](const Node& node) { return node.op == kGradientOperator; });
    if (!has_gradients) return absl::OkStatus();
    // No kernel computes these: they are nodes that have kernels.
    const PassContext context{registry_, reference_};
    SLIPWAY_ASSIGN_OR_RETURN(graph_, InferType(std::move(graph_), context));
    SLIPWAY_ASSIGN_OR_RETURN(graph_, ExpandGradients(std::move(graph_), context));
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
