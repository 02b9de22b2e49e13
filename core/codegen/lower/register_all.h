// The list of all lowerings.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_REGISTER_ALL_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_REGISTER_ALL_H_

#include "absl/status/status.h"
#include "core/codegen/lowering.h"

namespace slipway {

// Adds the lowerings of every operator that Slipway compiles. ALREADY_EXISTS when one is there.
absl::Status RegisterAllLowerings(Lowerings& lowerings);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_REGISTER_ALL_H_
