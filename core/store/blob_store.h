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

// A blob that is read in pieces. Not thread-safe. What it reads stays readable after the blob's removal.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // A copy of a part. DATA_LOSS where the blob has become shorter meanwhile. REQUIRES: 0 <= offset, 0 <= size,
  // offset + size <= the digest's size.
  virtual absl::StatusOr<std::string> Read(int64_t offset, int64_t size) = 0;
};

// Transfers that have not arrived completely.
struct UnfinishedBlobs {
  int64_t count = 0;
  int64_t bytes = 0;
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

  // Something of the blob's size is there: cheap, and enough to decide what need not be sent. Before its bytes are
  // followed, Verify.
  virtual bool Has(const Digest& digest) const = 0;
  // Whether the blob is there, byte for byte. Counts as a use. All of it is read the first time, and again only when
  // what holds it has changed since. NOT_FOUND; DATA_LOSS when what was there is not the blob (it was altered, or the
  // disk rots): it has been removed, so that the blob can be brought anew.
  virtual absl::Status Verify(const Digest& digest) = 0;
  // Its bytes, unverified; they may be those of a mapped file, and then whoever shortens the file kills who looks at them. Counts
  // as a use. NOT_FOUND; DATA_LOSS when something of another size is stored.
  virtual absl::StatusOr<Blob> Get(const Digest& digest) = 0;
  // Verifies it, and opens it for one who must outlive whatever happens to the file. Errors of Verify.
  virtual absl::StatusOr<std::unique_ptr<BlobReader>> Open(const Digest& digest) = 0;
  // OK if it is there already; one that is rotten is replaced. INVALID_ARGUMENT when the bytes do not have the
  // digest; RESOURCE_EXHAUSTED on a full disk or quota, and then nothing changed.
  virtual absl::Status Put(const Digest& digest, absl::string_view bytes) = 0;
  // Stores a file's content and tells its digest. Errors of reading; otherwise
  // as Put. REQUIRES: nobody writes to the file.
  virtual absl::StatusOr<Digest> PutFile(const std::string& path) = 0;
  // Begins or resumes a transfer. ALREADY_EXISTS when the blob is there, verified.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> Write(const Digest& digest) = 0;
  // Bytes a writer would resume with; 0 if there are none.
  virtual int64_t PartialBytes(const Digest& digest) const = 0;
  // All of them, those with a writer among them.
  virtual absl::StatusOr<UnfinishedBlobs> CountUnfinished() const = 0;
  // Drops those that nobody has written to for `idle`, nor has a writer of.
  virtual void DropUnfinished(absl::Duration idle) = 0;
  // OK if it is not there.
  virtual absl::Status Remove(const Digest& digest) = 0;
  // All blobs, in no order.
  virtual absl::StatusOr<std::vector<BlobInfo>> List() const = 0;

  // Those that Has does not find, in the order given, each once.
  std::vector<Digest> FindMissing(absl::Span<const Digest> digests) const;
  // The same of those that Verify does not find. Its other errors.
  absl::StatusOr<std::vector<Digest>> FindUnsound(absl::Span<const Digest> digests);
};

// All of a blob, by BlobStore::Open.
absl::StatusOr<std::string> ReadBlob(BlobStore& store, const Digest& digest);

// Puts bytes whose digest is not known yet; tells it.
absl::StatusOr<Digest> PutBytes(BlobStore& store, absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_BLOB_STORE_H_
