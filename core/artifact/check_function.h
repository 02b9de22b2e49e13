// Checks of a manifest's functions: bindings, steps and the memory they touch.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECK_FUNCTION_H_
#define SLIPWAY_CORE_ARTIFACT_CHECK_FUNCTION_H_

#include "absl/status/status.h"
#include "core/artifact/limits.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Checks the entry function. REQUIRES: CheckTables(manifest) is OK and the
// function exists. Errors as of CheckManifest.
absl::Status CheckFunction(const v1::Manifest& manifest, const v1::Function& function,
                           const ReaderLimits& limits);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECK_FUNCTION_H_
