// What the backend for GPUs is, as far as it decides over artifacts.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_GPU_FINGERPRINT_H_
#define SLIPWAY_CORE_BACKENDS_GPU_GPU_FINGERPRINT_H_

#include <string>

#include "absl/status/statusor.h"

namespace slipway {

// Lines: the digest of the sources it and all it uses are built from, and GeneratorFingerprint().
absl::StatusOr<std::string> GpuBackendFingerprint();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_GPU_FINGERPRINT_H_
