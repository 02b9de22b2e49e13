// QuotaBlobStore: a store with a limit, which removes what was not used for the
// longest time.
#ifndef SLIPWAY_CORE_STORE_QUOTA_BLOB_STORE_H_
#define SLIPWAY_CORE_STORE_QUOTA_BLOB_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/store/blob_store.h"

namespace slipway {

// Thread-safe. A transfer counts with all that its blob will have while it has a
// writer, and with what has arrived after that; when there is no room, those idle
// for kKeepUnfinished are the first to go. When several processes share a folder,
// each counts what the others added when it comes to its own limit.
class QuotaBlobStore final : public BlobStore {
 public:
  struct Options {
    // Bytes of all blobs. REQUIRED: above 0.
    int64_t quota_bytes = 0;
    // Tells what must not be removed; asked when there is no room. May be empty.
    // Must not call this store.
    std::function<absl::flat_hash_set<Digest>()> pinned;
    // What was used since is not removed: an upload whose job is still to come.
    absl::Duration keep_for = absl::Minutes(10);
    // Not owned; null: the machine's.
    const Clock* clock = nullptr;
  };
  QuotaBlobStore(std::unique_ptr<BlobStore> store, Options options);

  bool Has(const Digest& digest) const override;
  absl::Status Verify(const Digest& digest) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> Open(const Digest& digest) override;
  absl::Status Put(const Digest& digest, absl::string_view bytes) override;
  absl::StatusOr<Digest> PutFile(const std::string& path) override;
  // RESOURCE_EXHAUSTED when there is no room for the blob.
  absl::StatusOr<std::unique_ptr<BlobWriter>> Write(const Digest& digest) override;
  int64_t PartialBytes(const Digest& digest) const override;
  absl::StatusOr<UnfinishedBlobs> CountUnfinished() const override;
  void DropUnfinished(absl::Duration idle) override;
  absl::Status Remove(const Digest& digest) override;
  absl::StatusOr<std::vector<BlobInfo>> List() const override;

  // Bytes of all blobs, those on their way included, as the quota counts them. The first call may count them: errors of List.
  absl::StatusOr<int64_t> UsedBytes();

 private:
  class Writer;
  // How long a transfer may be idle and be kept when there is no room.
  static constexpr absl::Duration kKeepUnfinished = absl::Minutes(1);

  // Makes room for `bytes` more of a blob and counts them.
  absl::Status Reserve(const Digest& digest, int64_t bytes);
  // Gives back what did not come.
  void Release(int64_t bytes);
  // Counts anew what is there and what is promised.
  absl::StatusOr<std::vector<BlobInfo>> Recount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of what was promised so much has come, or will not come.
  void Redeem(int64_t bytes);

  const std::unique_ptr<BlobStore> store_;
  const Options options_;
  const SystemClock system_clock_;
  const Clock& clock_;

  absl::Mutex mutex_;
  // Bytes of the store as last counted and added to since; -1: not counted yet.
  int64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = -1;
  // Bytes that writers still expect; counted in used_bytes_.
  int64_t promised_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_QUOTA_BLOB_STORE_H_
