#include "core/operators/reshaping.h"

#include "core/base/status_macros.h"
#include "core/kernels/reshaping.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

// The same bytes under the inferred shape.
absl::Status Reshape(const KernelCall& call) {
  auto reshaped = call.inputs[0]->Reshaped(call.outputs[0].shape());
  if (!reshaped.ok()) return call.view.Annotated(reshaped.status());
  call.outputs[0] = *std::move(reshaped);
  return absl::OkStatus();
}

absl::Status FirstDimension(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(DecodeShape(view).begin);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterReshapingKernels(KernelColumn& kernels) {
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "slipway.View"}) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, Reshape));
  }
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Size", CallableKernel{"slipway_Size", slipway_Size, nullptr}));
  return kernels.Add("Shape", CallableKernel{"slipway_Shape", slipway_Shape, FirstDimension});
}

}  // namespace slipway
