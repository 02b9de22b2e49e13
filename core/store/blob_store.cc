#include "core/store/blob_store.h"

#include "absl/container/flat_hash_set.h"
#include "core/base/status_macros.h"

namespace slipway {

std::vector<Digest> BlobStore::FindMissing(absl::Span<const Digest> digests) const {
  std::vector<Digest> missing;
  absl::flat_hash_set<Digest> seen;
  for (const Digest& digest : digests) {
    if (seen.insert(digest).second && !Has(digest)) missing.push_back(digest);
  }
  return missing;
}

absl::StatusOr<std::vector<Digest>> BlobStore::FindUnsound(absl::Span<const Digest> digests) {
  std::vector<Digest> unsound;
  absl::flat_hash_set<Digest> seen;
  for (const Digest& digest : digests) {
    if (!seen.insert(digest).second) continue;
    const absl::Status status = Verify(digest);
    if (absl::IsNotFound(status) || absl::IsDataLoss(status)) {
      unsound.push_back(digest);
    } else if (!status.ok()) {
      return status;
    }
  }
  return unsound;
}

absl::StatusOr<std::string> ReadBlob(BlobStore& store, const Digest& digest) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<BlobReader> reader, store.Open(digest));
  return reader->Read(0, digest.size_bytes());
}

absl::StatusOr<Digest> PutBytes(BlobStore& store, absl::string_view bytes) {
  const Digest digest = Digest::Of(bytes);
  SLIPWAY_RETURN_IF_ERROR(store.Put(digest, bytes));
  return digest;
}

}  // namespace slipway
