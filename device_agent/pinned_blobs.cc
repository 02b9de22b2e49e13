#include "device_agent/pinned_blobs.h"

#include <utility>

namespace slipway {

void PinnedBlobs::Pin(absl::flat_hash_set<Digest> digests) {
  absl::MutexLock lock(&mutex_);
  digests_ = std::move(digests);
}

void PinnedBlobs::Clear() {
  absl::MutexLock lock(&mutex_);
  digests_.clear();
}

absl::flat_hash_set<Digest> PinnedBlobs::Get() const {
  absl::MutexLock lock(&mutex_);
  return digests_;
}

}  // namespace slipway
