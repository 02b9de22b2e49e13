// Artifact: a program as it is deployed, a manifest and the blobs it names.
#ifndef SLIPWAY_CORE_ARTIFACT_ARTIFACT_H_
#define SLIPWAY_CORE_ARTIFACT_ARTIFACT_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/blob.h"
#include "core/base/digest.h"

namespace slipway {

// Complete and checked: every blob the manifest names is here, with the size of its
// digest. Copies share all data. Immutable and thread-safe.
class Artifact {
 public:
  using GetBlob = absl::FunctionRef<absl::StatusOr<Blob>(const Digest&)>;

  // `get_blob` is asked for every blob once; whoever answers vouches that bytes and
  // digest belong together. Errors of `get_blob`; DATA_LOSS for a blob of another size.
  static absl::StatusOr<Artifact> Create(CheckedManifest manifest, GetBlob get_blob);
  // From a manifest just made. Errors of CheckedManifest::Check as well.
  static absl::StatusOr<Artifact> Create(v1::Manifest manifest, GetBlob get_blob,
                                         const ReaderLimits& limits = {});
  // From a manifest's bytes. Errors of CheckedManifest::Parse as well.
  static absl::StatusOr<Artifact> Parse(absl::string_view manifest_bytes, GetBlob get_blob,
                                        const ReaderLimits& limits = {});

  const CheckedManifest& manifest() const { return manifest_; }
  // The artifact's name: that of its manifest.
  const Digest& digest() const { return manifest_.digest(); }

  // REQUIRES: the manifest names it.
  const Blob& blob(const Digest& digest) const;
  // Null if the manifest does not name it.
  const Blob* FindBlob(const Digest& digest) const;
  // Bytes of the manifest and all blobs.
  int64_t size_bytes() const { return manifest_.artifact_bytes(); }

 private:
  using Blobs = absl::flat_hash_map<Digest, Blob>;

  Artifact(CheckedManifest manifest, Blobs blobs)
      : manifest_(std::move(manifest)), blobs_(std::make_shared<const Blobs>(std::move(blobs))) {}

  CheckedManifest manifest_;
  std::shared_ptr<const Blobs> blobs_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_ARTIFACT_H_
