#include "core/artifact/artifact.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::StatusOr<Artifact> Artifact::Create(const v1::Manifest& manifest, GetBlob get_blob,
                                          const ReaderLimits& limits) {
  return Parse(SerializeManifest(manifest), get_blob, limits);
}

absl::StatusOr<Artifact> Artifact::Parse(absl::string_view manifest_bytes, GetBlob get_blob,
                                         const ReaderLimits& limits) {
  Artifact artifact;
  SLIPWAY_ASSIGN_OR_RETURN(artifact.manifest_, ParseManifest(manifest_bytes, limits));
  artifact.manifest_bytes_ = std::string(manifest_bytes);
  artifact.digest_ = Digest::Of(manifest_bytes);
  for (const Digest& digest : ReferencedBlobs(artifact.manifest_)) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Blob blob, get_blob(digest),
                                  absl::StrCat("artifact ", artifact.digest_.hex()));
    if (blob.size_bytes() != digest.size_bytes()) {
      return absl::DataLossError(
          absl::StrCat("blob ", digest.ToString(), " has ", blob.size_bytes(), " bytes"));
    }
    artifact.blobs_.emplace(digest, std::move(blob));
  }
  return artifact;
}

const Blob& Artifact::blob(const Digest& digest) const {
  const auto found = blobs_.find(digest);
  SLIPWAY_CHECK(found != blobs_.end(), "a blob the manifest does not name");
  return found->second;
}

int64_t Artifact::size_bytes() const {
  int64_t bytes = digest_.size_bytes();
  for (const auto& [digest, blob] : blobs_) bytes += digest.size_bytes();
  return bytes;
}

}  // namespace slipway
