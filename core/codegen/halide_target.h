// Halide's name for what kernels are compiled for.
#ifndef SLIPWAY_CORE_CODEGEN_HALIDE_TARGET_H_
#define SLIPWAY_CORE_CODEGEN_HALIDE_TARGET_H_

#include <halide14/Halide.h>

#include "absl/status/statusor.h"
#include "core/target/target.h"

namespace slipway {

// UNIMPLEMENTED names an architecture or system that kernels cannot be generated for.
absl::StatusOr<Halide::Target> HalideTargetFor(const DeviceTarget& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_HALIDE_TARGET_H_
