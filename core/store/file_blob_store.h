// FileBlobStore: a folder with a file for each blob.
#ifndef SLIPWAY_CORE_STORE_FILE_BLOB_STORE_H_
#define SLIPWAY_CORE_STORE_FILE_BLOB_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/store/blob_store.h"
#include "core/store/sound_files.h"

namespace slipway {

// Several processes may use one folder: blobs appear by rename, transfers are
// locked, and nobody keeps state in memory but which files are sound. The time of last use is the file's
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
    // Whether the use of blobs is noted. Not by a process that another one hands blobs to: that one has noted it, and
    // verified them, and would take the note for a change.
    bool notes_uses = true;
    // Whether later processes believe for a day what this one has found sound, so that one that starts often does not read
    // all of its blobs each time. Not for a folder that anything less trusted than this process may write to.
    bool marks_sound = false;
    // Transfers untouched for this long are dropped when the store is opened.
    absl::Duration abandoned_after = absl::Hours(24);
    // Not owned; null: the machine's.
    const Clock* clock = nullptr;
  };
  static absl::StatusOr<std::unique_ptr<FileBlobStore>> Create(Options options);

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

  // Whether a blob of List is what its name says. Reads it, and changes nothing. NOT_FOUND; DATA_LOSS says what it is.
  absl::Status Inspect(const Digest& digest) const;
  // What verifying has read so far.
  int64_t bytes_verified() const { return bytes_verified_; }

 private:
  class Reader;
  class Writer;
  explicit FileBlobStore(Options options);

  std::string Path(const Digest& digest) const;
  void NoteUse(const Digest& digest);
  // Whether the file holds what has the digest's hash, soundly, but another size.
  absl::StatusOr<bool> HoldsOtherSize(int fd, const Digest& digest);
  // Opens a blob's file when it holds the blob, and removes it when it does not. Errors of Verify.
  absl::StatusOr<UniqueFd> OpenSound(const Digest& digest);
  // OK if the open file holds the blob; DATA_LOSS says what it holds.
  absl::Status CheckContent(int fd, const Digest& digest);
  // NOT_FOUND and DATA_LOSS are false.
  absl::StatusOr<bool> IsSound(const Digest& digest);
  // Renames a complete, verified file of the partial folder to its blob.
  absl::Status Publish(int fd, const std::string& from, const Digest& digest);

  const Options options_;
  const SystemClock system_clock_;
  const Clock& clock_;
  SoundFiles sound_;
  std::atomic<int64_t> bytes_verified_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_FILE_BLOB_STORE_H_
