#include "server/artifacts/checked_manifests.h"

#include <utility>

#include "core/base/status_macros.h"

namespace slipway::server {

absl::optional<CheckedManifest> CheckedManifests::Find(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  const auto found = index_.find(digest);
  if (found == index_.end()) return absl::nullopt;
  kept_.splice(kept_.begin(), kept_, found->second);
  return kept_.front();
}

absl::StatusOr<CheckedManifest> CheckedManifests::Get(const Digest& digest,
                                                      absl::string_view bytes) {
  if (absl::optional<CheckedManifest> kept = Find(digest)) return *std::move(kept);
  // Without the lock: a large manifest takes a while.
  SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest manifest, CheckedManifest::Parse(bytes));
  absl::MutexLock lock(&mutex_);
  if (index_.contains(digest)) return manifest;
  kept_.push_front(manifest);
  index_.emplace(digest, kept_.begin());
  kept_bytes_ += digest.size_bytes();
  while (kept_bytes_ > max_bytes_) {
    kept_bytes_ -= kept_.back().digest().size_bytes();
    index_.erase(kept_.back().digest());
    kept_.pop_back();
  }
  return manifest;
}

}  // namespace slipway::server
