#include "core/operators/reshaping.h"

#include <utility>

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

absl::Status AllowZero(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("allowzero") != 0);
  return absl::OkStatus();
}

// A view, which only a program copies, and that where values say its shape.
Kernel Copied(CallableKernel callable) {
  Kernel kernel(Reshape);
  kernel.callable = std::move(callable);
  return kernel;
}

absl::Status FirstDimension(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(DecodeShape(view).begin);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterReshapingKernels(KernelColumn& kernels) {
  for (const char* op : {"Flatten", "slipway.View", kAgainOperator}) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, Reshape));
  }
  constexpr auto kEvery = CallableKernel::Finds::kEvery;
  const std::pair<const char*, CallableKernel> copied[] = {
      {"Reshape",
       {"slipway_Reshape", slipway_Reshape, AllowZero, "slipway_Reshape_extents",
        slipway_Reshape_extents, kEvery}},
      {"Squeeze",
       {"slipway_Squeeze", slipway_Squeeze, nullptr, "slipway_Squeeze_extents",
        slipway_Squeeze_extents, kEvery}},
      {"Unsqueeze",
       {"slipway_Unsqueeze", slipway_Unsqueeze, nullptr, "slipway_Unsqueeze_extents",
        slipway_Unsqueeze_extents, kEvery}},
  };
  for (const auto& [op, kernel] : copied) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, Copied(kernel)));
  }
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Size", CallableKernel{"slipway_Size", slipway_Size, nullptr}));
  return kernels.Add("Shape", CallableKernel{"slipway_Shape", slipway_Shape, FirstDimension});
}

}  // namespace slipway
