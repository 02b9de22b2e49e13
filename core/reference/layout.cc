#include "core/operators/layout.h"

#include "core/base/status_macros.h"
#include "core/kernels/movement.h"
#include "core/reference/families.h"

namespace slipway {

absl::Status RegisterLayoutKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("slipway.Pack", CallableKernel{"slipway_Pack", slipway_Pack, nullptr}));
  return kernels.Add("slipway.Unpack", CallableKernel{"slipway_Unpack", slipway_Unpack, nullptr});
}

}  // namespace slipway
