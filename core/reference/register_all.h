// The list of all kernels, by families.
#ifndef SLIPWAY_CORE_REFERENCE_REGISTER_ALL_H_
#define SLIPWAY_CORE_REFERENCE_REGISTER_ALL_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/graph/operator_column.h"
#include "core/reference/kernel.h"

namespace slipway {

// The families, sorted by name: those of core/operators but slipway.Fused, which the Reference
// evaluates itself.
absl::Span<const OperatorFamily<KernelColumn>> KernelFamilies();

// Adds the kernels of all of them. ALREADY_EXISTS when one is there.
absl::Status RegisterAllKernels(KernelColumn& kernels);

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_REGISTER_ALL_H_
