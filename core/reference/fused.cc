#include "core/operators/fused.h"

#include "core/base/status_macros.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<Tensor>> Evaluated(const NodeView& view, absl::Span<const Tensor> inputs,
                                              BodyEvaluator& evaluator) {
  auto outputs = evaluator.Evaluate(view.Body(kFusedBody), inputs);
  if (!outputs.ok()) return view.Annotated(outputs.status());
  return outputs;
}

// Bodies of kernels have types, which the node must have, too.
absl::StatusOr<std::vector<Tensor>> Fused(const NodeView& view, absl::Span<const Tensor> inputs,
                                          BodyEvaluator& evaluator) {
  SLIPWAY_RETURN_IF_ERROR(InferNodeTypes(view).status());
  return Evaluated(view, inputs, evaluator);
}

absl::StatusOr<std::vector<Tensor>> Call(const NodeView& view, absl::Span<const Tensor> inputs,
                                         BodyEvaluator& evaluator) {
  SLIPWAY_RETURN_IF_ERROR(InferNodeTypes(view).status());
  if (view.Int(kCallExtents) != 0) {
    return view.Unimplemented("the reference finds extents and makes outputs in one step");
  }
  const Graph& body = view.Body(kFusedBody);
  std::vector<Tensor> read;
  for (const int place : CallInputsOfBody(body)) read.push_back(inputs[place]);
  return Evaluated(view, read, evaluator);
}

}  // namespace

absl::Status RegisterFusedKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(kFusedOperator, Kernel(Fused)));
  return kernels.Add(kCallOperator, Kernel(Call));
}

}  // namespace slipway
