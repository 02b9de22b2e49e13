// Reference: evaluates graphs by plain loops, correct before fast. It folds constants, and tests
// compare everything else with it.
#ifndef SLIPWAY_CORE_REFERENCE_REFERENCE_H_
#define SLIPWAY_CORE_REFERENCE_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/reference/kernel.h"
#include "core/tensor/tensor.h"

namespace slipway {

struct ReferenceOptions {
  // Turns that all loops of one evaluation may make together.
  int64_t loop_turns = int64_t{1} << 16;
};

// Thread-safe once built. `registry` must outlive it.
class Reference {
 public:
  // With the kernels of RegisterAllKernels.
  explicit Reference(const OperatorRegistry& registry, const ReferenceOptions& options = {});
  // With kernels of the caller's own.
  Reference(const OperatorRegistry& registry, KernelColumn kernels,
            const ReferenceOptions& options = {});

  // The graph's outputs for `inputs`, one a graph input in order. Types are inferred on the way, so
  // that the graph needs none but its inputs' (which `inputs` must have, where stated). Errors name
  // the input or node: INVALID_ARGUMENT; UNIMPLEMENTED for an operator or element type without
  // kernel; RESOURCE_EXHAUSTED when memory ends, and when loops make too many turns.
  absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph,
                                               absl::Span<const Tensor> inputs) const;

  // One node's outputs, one an output it lists (unset where omitted). `inputs` holds one tensor a
  // node input, unset where omitted; for an operator that reads types only they may all be unset, and
  // the types are those of `graph`. Otherwise `graph` gives the name for messages.
  absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, const Node& node,
                                                   absl::Span<const Tensor> inputs) const;
  // The same if it is at most `work_left` of work (work.h), bodies' nodes each time; what was done is taken off. More is
  // RESOURCE_EXHAUSTED, before it is done.
  absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, const Node& node,
                                                   absl::Span<const Tensor> inputs,
                                                   int64_t& work_left) const;

  // Whether there is a kernel for the operator, or it is written with others that have one.
  bool Supports(absl::string_view op) const;
  // The kernel of `op` that can be linked into programs; null where there is none.
  const CallableKernel* FindCallable(absl::string_view op) const;

 private:
  class Evaluation;

  const OperatorRegistry& registry_;
  const KernelColumn kernels_;
  const ReferenceOptions options_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_REFERENCE_H_
