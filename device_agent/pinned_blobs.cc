#include "device_agent/pinned_blobs.h"

#include <utility>

#include "core/artifact/manifest.h"
#include "core/wire/digest_proto.h"

namespace slipway {

void PinnedBlobs::Pin(const v1::RunAssignment& assignment) {
  absl::flat_hash_set<Digest> digests;
  const absl::StatusOr<v1::Manifest> manifest = ParseManifest(assignment.manifest());
  if (manifest.ok()) {
    for (Digest& digest : ReferencedBlobs(*manifest)) digests.insert(std::move(digest));
  }
  const v1::RunSpec& spec =
      assignment.has_benchmark() ? assignment.benchmark().run() : assignment.run();
  for (const v1::Tensor& input : spec.inputs()) {
    absl::StatusOr<Digest> digest = FromProto(input.blob());
    if (digest.ok()) digests.insert(*std::move(digest));
  }
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
