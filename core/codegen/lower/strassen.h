// Products by seven of half their extents, slipway.StrassenGemm and slipway.StrassenConvNCHWc. Private to this folder.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_STRASSEN_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_STRASSEN_H_

#include <halide14/Halide.h>

#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/lowering.h"

namespace slipway {

absl::StatusOr<std::vector<Halide::Func>> LowerStrassenGemm(LoweringContext& context);
absl::StatusOr<std::vector<Halide::Func>> LowerStrassenConvNchwc(LoweringContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_STRASSEN_H_
