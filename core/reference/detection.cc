#include "core/operators/detection.h"

#include "core/kernels/detection.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status NonMaxSuppression(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("center_point_box") != 0);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterDetectionKernels(KernelColumn& kernels) {
  return kernels.Add(
      "NonMaxSuppression",
      CallableKernel{"slipway_NonMaxSuppression", slipway_NonMaxSuppression, NonMaxSuppression,
                     "slipway_NonMaxSuppression_count", slipway_NonMaxSuppression_count});
}

}  // namespace slipway
