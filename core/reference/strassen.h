// Kernels of products by seven of half their extents (core/operators/strassen.h), summed in double precision. Private to this folder.
#ifndef SLIPWAY_CORE_REFERENCE_STRASSEN_H_
#define SLIPWAY_CORE_REFERENCE_STRASSEN_H_

#include "absl/status/status.h"
#include "core/reference/kernel.h"

namespace slipway {

absl::Status StrassenGemm(const KernelCall& call);
absl::Status StrassenConvNchwc(const KernelCall& call);

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_STRASSEN_H_
