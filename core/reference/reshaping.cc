#include "core/operators/reshaping.h"

#include <algorithm>
#include <vector>

#include "core/base/status_macros.h"
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

absl::Status TakeShape(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, DecodeShape(call.view));
  std::copy(extents.begin(), extents.end(), call.outputs[0].mutable_values<int64_t>().begin());
  return absl::OkStatus();
}

absl::Status TakeSize(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(call.outputs[0].mutable_values<int64_t>()[0], DecodeSize(call.view));
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterReshapingKernels(KernelColumn& kernels) {
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, Reshape));
  }
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Size", TakeSize));
  return kernels.Add("Shape", TakeShape);
}

}  // namespace slipway
