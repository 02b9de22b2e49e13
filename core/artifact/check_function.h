// Checks of a manifest's functions: bindings, steps and the memory they touch.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECK_FUNCTION_H_
#define SLIPWAY_CORE_ARTIFACT_CHECK_FUNCTION_H_

#include "absl/status/status.h"
#include "core/artifact/check_tables.h"

namespace slipway {

// Checks all functions and which of them are entries. Errors as of CheckedManifest::Check.
absl::Status CheckFunctions(const Tables& tables);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECK_FUNCTION_H_
