// Halide's name for what kernels are compiled for.
#ifndef SLIPWAY_CORE_CODEGEN_HALIDE_TARGET_H_
#define SLIPWAY_CORE_CODEGEN_HALIDE_TARGET_H_

#include <halide14/Halide.h>

#include "absl/status/statusor.h"
#include "core/target/target.h"

namespace slipway {

// What the numbers are whose products a kernel sums several at once (ConvolutionStages::terms).
enum class DotProducts { kNone, kBfloat16, kBytes };

// UNIMPLEMENTED names an architecture or system that kernels cannot be generated for.
//
// Where the device has instructions for the kernel's dot products the target is that of the one chip by whose name Halide knows
// them, which has more than the device may: WriteMachineCode takes that back.
absl::StatusOr<Halide::Target> HalideTargetFor(const DeviceTarget& device,
                                               DotProducts dot_products = DotProducts::kNone);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_HALIDE_TARGET_H_
