// CheckedManifests: the manifests in use, so that each is checked once.
#ifndef SLIPWAY_SERVER_ARTIFACTS_CHECKED_MANIFESTS_H_
#define SLIPWAY_SERVER_ARTIFACTS_CHECKED_MANIFESTS_H_

#include <cstdint>
#include <list>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/optional.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/digest.h"

namespace slipway::server {

// Keeps the ones asked for last. Thread-safe.
class CheckedManifests {
 public:
  // `max_bytes` of manifests are kept; parsed, they take several times as much memory.
  explicit CheckedManifests(int64_t max_bytes = 8 << 20) : max_bytes_(max_bytes) {}

  absl::optional<CheckedManifest> Find(const Digest& digest);
  // `bytes` are those that `digest` names. Errors of CheckedManifest::Parse, which are not kept.
  absl::StatusOr<CheckedManifest> Get(const Digest& digest, absl::string_view bytes);

 private:
  const int64_t max_bytes_;
  absl::Mutex mutex_;
  // The one asked for last is the first.
  std::list<CheckedManifest> kept_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Digest, std::list<CheckedManifest>::iterator> index_ ABSL_GUARDED_BY(mutex_);
  int64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_ARTIFACTS_CHECKED_MANIFESTS_H_
