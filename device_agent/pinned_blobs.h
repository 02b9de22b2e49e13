// PinnedBlobs: what the agent's cache must keep, because an attempt works with it.
#ifndef SLIPWAY_DEVICE_AGENT_PINNED_BLOBS_H_
#define SLIPWAY_DEVICE_AGENT_PINNED_BLOBS_H_

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "core/base/digest.h"

namespace slipway {

// Thread-safe.
class PinnedBlobs {
 public:
  // In place of those of the attempt before.
  void Pin(absl::flat_hash_set<Digest> digests);
  void Clear();
  absl::flat_hash_set<Digest> Get() const;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<Digest> digests_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_PINNED_BLOBS_H_
