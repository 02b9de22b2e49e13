// BlobStore: bytes by digest. Implementations: FileBlobStore, MemoryBlobStore;
// QuotaBlobStore adds a limit to any of them.
#ifndef SLIPWAY_CORE_STORE_BLOB_STORE_H_
#define SLIPWAY_CORE_STORE_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/blob.h"
#include "core/base/digest.h"

namespace slipway {

// One blob on its way into a store. What has been appended when the writer is
// destroyed without Commit is kept for a later writer of the same blob, unless
// another writer of it was open at the same time. Not thread-safe.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // Bytes held, those of an earlier writer included.
  virtual int64_t committed_bytes() const = 0;
  // INVALID_ARGUMENT when there would be more bytes than the digest says;
  // RESOURCE_EXHAUSTED on a full disk, and then what was appended before is kept.
  virtual absl::Status Append(absl::string_view bytes) = 0;
  // Verifies and publishes. INVALID_ARGUMENT when the bytes do not have the
  // digest; they are then dropped. Call at most once, and nothing after it.
  virtual absl::Status Commit() = 0;
};

// A blob of a store.
struct BlobInfo {
  Digest digest;
  absl::Time last_use;
};

// Thread-safe. A blob is there completely or not at all; what is handed out
// stays readable after its removal.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  virtual bool Has(const Digest& digest) const = 0;
  // Counts as a use. NOT_FOUND; DATA_LOSS when what is stored is not the blob.
  virtual absl::StatusOr<Blob> Get(const Digest& digest) = 0;
  // OK if it is there already. INVALID_ARGUMENT when the bytes do not have the
  // digest; RESOURCE_EXHAUSTED on a full disk or quota, and then nothing changed.
  virtual absl::Status Put(const Digest& digest, absl::string_view bytes) = 0;
  // Stores a file's content and tells its digest. Errors of reading; otherwise
  // as Put. REQUIRES: nobody writes to the file.
  virtual absl::StatusOr<Digest> PutFile(const std::string& path) = 0;
  // Begins or resumes a transfer. ALREADY_EXISTS when the blob is there.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> Write(const Digest& digest) = 0;
  // Bytes a writer would resume with; 0 if there are none.
  virtual int64_t PartialBytes(const Digest& digest) const = 0;
  // OK if it is not there.
  virtual absl::Status Remove(const Digest& digest) = 0;
  // All blobs, in no order.
  virtual absl::StatusOr<std::vector<BlobInfo>> List() const = 0;

  // Those that are not there, in the order given, each once.
  std::vector<Digest> FindMissing(absl::Span<const Digest> digests) const;
};

// Puts bytes whose digest is not known yet; tells it.
absl::StatusOr<Digest> PutBytes(BlobStore& store, absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_BLOB_STORE_H_
