// Convolution by tiles of transformed inputs, slipway.WinogradConvNCHWc. Private to this folder.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_WINOGRAD_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_WINOGRAD_H_

#include <halide14/Halide.h>

#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/lowering.h"

namespace slipway {

absl::StatusOr<std::vector<Halide::Func>> LowerWinogradConvNchwc(LoweringContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_WINOGRAD_H_
