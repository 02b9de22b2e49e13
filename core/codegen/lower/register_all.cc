#include "core/codegen/lower/register_all.h"

#include "core/base/status_macros.h"
#include "core/codegen/lower/families.h"

namespace slipway {

absl::Status RegisterAllLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(RegisterElementwiseLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterCastLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterConvLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterPoolLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterGemmLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterReduceLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterSoftmaxLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterNormalizationLowerings(lowerings));
  SLIPWAY_RETURN_IF_ERROR(RegisterLayoutLowerings(lowerings));
  return RegisterMovementLowerings(lowerings);
}

}  // namespace slipway
