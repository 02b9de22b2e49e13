// The checks behind CheckedManifest.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECK_MANIFEST_H_
#define SLIPWAY_CORE_ARTIFACT_CHECK_MANIFEST_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/artifact/check_tables.h"
#include "core/artifact/limits.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Whether this source knows the format and the features; the kernel ABI is for the runtime to know. Errors as of CheckedManifest::Check.
absl::Status CheckVersions(const v1::Manifest& manifest);

// All that CheckedManifest promises, and what follows. Both arguments must outlive the tables. Errors as of
// CheckedManifest::Check.
absl::StatusOr<Tables> CheckManifest(const v1::Manifest& manifest, const ReaderLimits& limits);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECK_MANIFEST_H_
