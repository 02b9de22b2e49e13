// Checks of a manifest's tables: everything but its functions.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECK_TABLES_H_
#define SLIPWAY_CORE_ARTIFACT_CHECK_TABLES_H_

#include "absl/status/status.h"
#include "core/artifact/limits.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Target, devices, code, constants, symbols, buffers and values. Errors as of
// CheckManifest.
absl::Status CheckTables(const v1::Manifest& manifest, const ReaderLimits& limits);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECK_TABLES_H_
