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

absl::StatusOr<Digest> PutBytes(BlobStore& store, absl::string_view bytes) {
  const Digest digest = Digest::Of(bytes);
  SLIPWAY_RETURN_IF_ERROR(store.Put(digest, bytes));
  return digest;
}

}  // namespace slipway
