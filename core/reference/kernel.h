// Kernel: how the reference evaluates one operator, by calling core/kernels or by evaluating the node's bodies.
#ifndef SLIPWAY_CORE_REFERENCE_KERNEL_H_
#define SLIPWAY_CORE_REFERENCE_KERNEL_H_

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_registry.h"
#include "core/reference/callable_kernel.h"
#include "core/tensor/tensor.h"

namespace slipway {

// One evaluation of one node.
struct KernelCall {
  const NodeView& view;                    // Every input that is not null is a constant here.
  absl::Span<const Tensor* const> inputs;  // Null where omitted, and where types are all it reads.
  absl::Span<Tensor> outputs;              // Zero-filled, of the inferred types; a kernel may also
                                           // replace one by a tensor of the same type. Omitted
                                           // outputs are unset.
};

// UNIMPLEMENTED for element types the kernel lacks; INVALID_ARGUMENT for values the operator cannot
// take (an index out of range).
using EvaluateFunction = std::function<absl::Status(const KernelCall&)>;

// How a kernel evaluates graphs in the course of an evaluation.
class BodyEvaluator {
 public:
  virtual ~BodyEvaluator() = default;
  // As Reference::Evaluate.
  virtual absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph,
                                                       absl::Span<const Tensor> inputs) = 0;
  // Asked before each turn of a loop: RESOURCE_EXHAUSTED when all loops of the evaluation made too many.
  virtual absl::Status BeginTurn() = 0;
};

// For operators whose results are those of their bodies, with types of their own: makes the outputs, at least as many as
// the node lists. `inputs` is unset where omitted. Errors name the node.
using EvaluateBodiesFunction = std::function<absl::StatusOr<std::vector<Tensor>>(
    const NodeView&, absl::Span<const Tensor> inputs, BodyEvaluator&)>;

struct Kernel {
  Kernel() = default;  // None.
  template <typename Function>
  requires std::is_convertible_v<Function, EvaluateFunction> Kernel(Function function)
      : evaluate(std::move(function)) {}
  template <typename Function>
  requires std::is_convertible_v<Function, EvaluateBodiesFunction> Kernel(Function function)
      : evaluate_bodies(std::move(function)) {}
  Kernel(CallableKernel kernel)
      : evaluate([kernel](const KernelCall& call) {
          return CallKernel(kernel, call.view, call.inputs, call.outputs);
        }),
        callable(std::move(kernel)) {}

  // One of the two is set.
  EvaluateFunction evaluate;
  EvaluateBodiesFunction evaluate_bodies;
  // Set where the kernel can be linked into programs, for nodes that have no lowering.
  std::optional<CallableKernel> callable;
};

using KernelColumn = OperatorColumn<Kernel>;

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_KERNEL_H_
