// MemoryBlobStore: blobs in memory, for tests and small stores.
#ifndef SLIPWAY_CORE_STORE_MEMORY_BLOB_STORE_H_
#define SLIPWAY_CORE_STORE_MEMORY_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/store/blob_store.h"

namespace slipway {

// Gone with the object. Thread-safe; must outlive its writers.
class MemoryBlobStore final : public BlobStore {
 public:
  // `clock` is not owned; null: the machine's.
  explicit MemoryBlobStore(const Clock* clock = nullptr);

  bool Has(const Digest& digest) const override;
  absl::Status Verify(const Digest& digest) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> Open(const Digest& digest) override;
  absl::Status Put(const Digest& digest, absl::string_view bytes) override;
  absl::StatusOr<Digest> PutFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<BlobWriter>> Write(const Digest& digest) override;
  int64_t PartialBytes(const Digest& digest) const override;
  absl::StatusOr<UnfinishedBlobs> CountUnfinished() const override;
  void DropUnfinished(absl::Duration idle) override;
  absl::Status Remove(const Digest& digest) override;
  absl::StatusOr<std::vector<BlobInfo>> List() const override;

 private:
  class Reader;
  class Writer;
  struct Entry {
    Blob blob;
    absl::Time last_use;
  };

  // What was left of a transfer, or arrives.
  struct Partial {
    std::string bytes;
    absl::Time last_write;
  };

  void Publish(const Digest& digest, std::string bytes);
  std::string TakePartial(const Digest& digest);
  void KeepPartial(const Digest& digest, std::string bytes);
  // A writer has so many bytes more; or there is one more or less.
  void CountWriter(int64_t writers, int64_t bytes);

  const SystemClock system_clock_;
  const Clock& clock_;

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Digest, Entry> blobs_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Digest, Partial> partial_ ABSL_GUARDED_BY(mutex_);
  UnfinishedBlobs with_writers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_MEMORY_BLOB_STORE_H_
