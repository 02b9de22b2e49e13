// .slip: an artifact as one file. README.md has the layout byte by byte.
#ifndef SLIPWAY_CORE_ARTIFACT_SLIP_FILE_H_
#define SLIPWAY_CORE_ARTIFACT_SLIP_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/artifact.h"
#include "core/artifact/limits.h"
#include "core/base/blob.h"

namespace slipway {

// Whether `bytes` begin as a .slip file does.
bool LooksLikeSlip(absl::string_view bytes);

// Reads a file; its blobs stay mapped from it. Every byte is verified.
//
// INVALID_ARGUMENT: it is no .slip file, or its manifest is bad. DATA_LOSS: it is
// truncated or corrupted, with the section. UNIMPLEMENTED: a newer version, or
// what CheckedManifest refuses. RESOURCE_EXHAUSTED: over the limits. NOT_FOUND.
absl::StatusOr<Artifact> ReadSlip(const std::string& path, const ReaderLimits& limits = {});

// The same from memory; the artifact's blobs are parts of `file`.
absl::StatusOr<Artifact> ParseSlip(const Blob& file, const ReaderLimits& limits = {});

// Replaces `path` in one step. Equal artifacts give equal files.
// RESOURCE_EXHAUSTED on a full disk, and then nothing is left behind.
absl::Status WriteSlip(const Artifact& artifact, const std::string& path);

// The same, one blob at a time: `get_blob` is asked for each in the order of the manifest, as Artifact::Create does.
// Errors of `get_blob`; DATA_LOSS for a blob of another size.
absl::Status WriteSlip(const CheckedManifest& manifest, Artifact::GetBlob get_blob,
                       const std::string& path);

// The bytes WriteSlip writes, for small artifacts and tests.
std::string FormatSlip(const Artifact& artifact);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_SLIP_FILE_H_
