#include "core/artifact/artifact.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::StatusOr<Artifact> Artifact::Create(CheckedManifest manifest, GetBlob get_blob) {
  Blobs blobs;
  for (const Digest& digest : manifest.blobs()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Blob blob, get_blob(digest),
                                  absl::StrCat("artifact ", manifest.digest().hex()));
    if (blob.size_bytes() != digest.size_bytes()) {
      return absl::DataLossError(
          absl::StrCat("blob ", digest.ToString(), " has ", blob.size_bytes(), " bytes"));
    }
    blobs.emplace(digest, std::move(blob));
  }
  return Artifact(std::move(manifest), std::move(blobs));
}

absl::StatusOr<Artifact> Artifact::Create(v1::Manifest manifest, GetBlob get_blob,
                                          const ReaderLimits& limits) {
  SLIPWAY_ASSIGN_OR_RETURN(CheckedManifest checked,
                           CheckedManifest::Check(std::move(manifest), limits));
  return Create(std::move(checked), get_blob);
}

absl::StatusOr<Artifact> Artifact::Parse(absl::string_view manifest_bytes, GetBlob get_blob,
                                         const ReaderLimits& limits) {
  SLIPWAY_ASSIGN_OR_RETURN(CheckedManifest checked, CheckedManifest::Parse(manifest_bytes, limits));
  return Create(std::move(checked), get_blob);
}

const Blob& Artifact::blob(const Digest& digest) const {
  const Blob* const found = FindBlob(digest);
  SLIPWAY_CHECK(found != nullptr, "a blob the manifest does not name");
  return *found;
}

const Blob* Artifact::FindBlob(const Digest& digest) const {
  const auto found = blobs_->find(digest);
  return found == blobs_->end() ? nullptr : &found->second;
}

}  // namespace slipway
