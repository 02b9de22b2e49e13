// Artifact: a program as it is deployed, a manifest and the blobs it names.
#ifndef SLIPWAY_CORE_ARTIFACT_ARTIFACT_H_
#define SLIPWAY_CORE_ARTIFACT_ARTIFACT_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/manifest.h"
#include "core/base/blob.h"
#include "core/base/digest.h"

namespace slipway {

// Complete and checked: the manifest is validated and every blob it names is
// here, with the size of its digest. Copies share the blobs. Thread-compatible.
class Artifact {
 public:
  using GetBlob = absl::FunctionRef<absl::StatusOr<Blob>(const Digest&)>;

  // From a manifest just made. `get_blob` is asked for every blob once; whoever
  // answers vouches that bytes and digest belong together. Errors of
  // ValidateManifest and of `get_blob`; DATA_LOSS for a blob of another size.
  static absl::StatusOr<Artifact> Create(const v1::Manifest& manifest, GetBlob get_blob,
                                         const ReaderLimits& limits = {});
  // From a manifest's bytes. Errors of ParseManifest as well.
  static absl::StatusOr<Artifact> Parse(absl::string_view manifest_bytes, GetBlob get_blob,
                                        const ReaderLimits& limits = {});

  const v1::Manifest& manifest() const { return manifest_; }
  // The canonical bytes of the manifest, and their digest: the artifact's name.
  const std::string& manifest_bytes() const { return manifest_bytes_; }
  const Digest& digest() const { return digest_; }

  // REQUIRES: the manifest names it.
  const Blob& blob(const Digest& digest) const;
  // Bytes of the manifest and all blobs.
  int64_t size_bytes() const;

 private:
  Artifact() = default;
  v1::Manifest manifest_;
  std::string manifest_bytes_;
  Digest digest_;
  absl::flat_hash_map<Digest, Blob> blobs_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_ARTIFACT_H_
