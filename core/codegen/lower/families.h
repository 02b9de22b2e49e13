// The families of lowerings, one file each. lower/register_all.cc calls them all.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_FAMILIES_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_FAMILIES_H_

#include "absl/status/status.h"
#include "core/codegen/lowering.h"

namespace slipway {

absl::Status RegisterElementwiseLowerings(Lowerings& lowerings);
absl::Status RegisterCastLowerings(Lowerings& lowerings);
absl::Status RegisterConvLowerings(Lowerings& lowerings);
absl::Status RegisterPoolLowerings(Lowerings& lowerings);
absl::Status RegisterGemmLowerings(Lowerings& lowerings);
absl::Status RegisterReduceLowerings(Lowerings& lowerings);
absl::Status RegisterSoftmaxLowerings(Lowerings& lowerings);
absl::Status RegisterNormalizationLowerings(Lowerings& lowerings);
absl::Status RegisterLayoutLowerings(Lowerings& lowerings);
absl::Status RegisterMovementLowerings(Lowerings& lowerings);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_FAMILIES_H_
