// FileBlobStore: a folder with a file for each blob.
#ifndef SLIPWAY_CORE_STORE_FILE_BLOB_STORE_H_
#define SLIPWAY_CORE_STORE_FILE_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/store/blob_store.h"

namespace slipway {

// Several processes may use one folder: blobs appear by rename, transfers are
// locked, and nobody keeps state in memory. The time of last use is the file's
// modification time. Thread-safe.
class FileBlobStore final : public BlobStore {
 public:
  struct Options {
    // Made if it is not there.
    std::string folder;
    // A blob survives the machine's end once Put or Commit returned. Without it
    // a blob may be lost, or come back cut short, which Has and Get notice; for
    // caches.
    bool durable = true;
    // Transfers untouched for this long are dropped when the store is opened.
    absl::Duration abandoned_after = absl::Hours(24);
    // Not owned; null: the machine's.
    const Clock* clock = nullptr;
  };
  static absl::StatusOr<std::unique_ptr<FileBlobStore>> Create(Options options);

  bool Has(const Digest& digest) const override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, absl::string_view bytes) override;
  absl::StatusOr<Digest> PutFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<BlobWriter>> Write(const Digest& digest) override;
  int64_t PartialBytes(const Digest& digest) const override;
  absl::Status Remove(const Digest& digest) override;
  absl::StatusOr<std::vector<BlobInfo>> List() const override;

  // Where a blob lies, for a process that maps it by itself. Counts as a use.
  // NOT_FOUND.
  absl::StatusOr<std::string> PathOf(const Digest& digest);

 private:
  class Writer;
  explicit FileBlobStore(Options options);

  std::string Path(const Digest& digest) const;
  void Touch(const std::string& path) const;
  void DropAbandoned() const;
  // Renames a complete, verified file of the partial folder to its blob.
  absl::Status Publish(int fd, const std::string& from, const Digest& digest);

  const Options options_;
  const SystemClock system_clock_;
  const Clock& clock_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_FILE_BLOB_STORE_H_
