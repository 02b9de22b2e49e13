// The list of all lowerings, by families.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_REGISTER_ALL_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_REGISTER_ALL_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/codegen/lowering.h"
#include "core/graph/operator_column.h"

namespace slipway {

// The families, sorted by name: those of core/operators but slipway.Fused, which is what is lowered.
absl::Span<const OperatorFamily<Lowerings>> LoweringFamilies();

// Adds the lowerings of every operator that Slipway compiles. ALREADY_EXISTS when one is there.
absl::Status RegisterAllLowerings(Lowerings& lowerings);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_REGISTER_ALL_H_
