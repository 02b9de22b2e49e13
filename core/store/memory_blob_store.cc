#include "core/store/memory_blob_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

absl::Status NoBlob(const Digest& digest) {
  return absl::NotFoundError(absl::StrCat("blob ", digest.ToString(), " is not in the store"));
}

absl::Status WrongBytes(const Digest& digest, const Digest& actual) {
  return absl::InvalidArgumentError(absl::StrCat("the bytes given for blob ", digest.ToString(),
                                                 " have digest ", actual.ToString()));
}

}  // namespace

class MemoryBlobStore::Writer final : public BlobWriter {
 public:
  Writer(MemoryBlobStore& store, Digest digest)
      : store_(store), digest_(std::move(digest)), bytes_(store.TakePartial(digest_)) {
    hasher_.Update(bytes_);
    store_.CountWriter(1, committed_bytes());
  }
  ~Writer() override {
    if (is_done_) return;
    store_.CountWriter(-1, -committed_bytes());
    store_.KeepPartial(digest_, std::move(bytes_));
  }

  int64_t committed_bytes() const override { return static_cast<int64_t>(bytes_.size()); }
  absl::Status Append(absl::string_view bytes) override {
    if (static_cast<int64_t>(bytes.size()) > digest_.size_bytes() - committed_bytes()) {
      return absl::InvalidArgumentError(absl::StrCat("more than the ", digest_.size_bytes(),
                                                     " bytes of blob ", digest_.ToString()));
    }
    bytes_.append(bytes.data(), bytes.size());
    hasher_.Update(bytes);
    store_.CountWriter(0, static_cast<int64_t>(bytes.size()));
    return absl::OkStatus();
  }
  absl::Status Commit() override {
    is_done_ = true;
    store_.CountWriter(-1, -committed_bytes());
    const Digest actual = hasher_.Finish();
    if (actual != digest_) return WrongBytes(digest_, actual);
    store_.Publish(digest_, std::move(bytes_));
    return absl::OkStatus();
  }

 private:
  MemoryBlobStore& store_;
  const Digest digest_;
  std::string bytes_;
  Hasher hasher_;  // Of bytes_.
  bool is_done_ = false;
};

class MemoryBlobStore::Reader final : public BlobReader {
 public:
  explicit Reader(Blob blob) : blob_(std::move(blob)) {}

  absl::StatusOr<std::string> Read(int64_t offset, int64_t size) override {
    return std::string(blob_.Part(offset, size).bytes());
  }

 private:
  const Blob blob_;
};

MemoryBlobStore::MemoryBlobStore(const Clock* clock)
    : clock_(clock != nullptr ? *clock : system_clock_) {}

bool MemoryBlobStore::Has(const Digest& digest) const {
  absl::MutexLock lock(&mutex_);
  return blobs_.contains(digest);
}

absl::Status MemoryBlobStore::Verify(const Digest& digest) { return Get(digest).status(); }

absl::StatusOr<std::unique_ptr<BlobReader>> MemoryBlobStore::Open(const Digest& digest) {
  SLIPWAY_ASSIGN_OR_RETURN(Blob blob, Get(digest));
  return std::make_unique<Reader>(std::move(blob));
}

absl::StatusOr<Blob> MemoryBlobStore::Get(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  const auto found = blobs_.find(digest);
  if (found == blobs_.end()) return NoBlob(digest);
  found->second.last_use = clock_.Now();
  return found->second.blob;
}

absl::Status MemoryBlobStore::Put(const Digest& digest, absl::string_view bytes) {
  const Digest actual = Digest::Of(bytes);
  if (actual != digest) return WrongBytes(digest, actual);
  Publish(digest, std::string(bytes));
  return absl::OkStatus();
}

absl::StatusOr<Digest> MemoryBlobStore::PutFile(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, INT64_MAX));
  Digest digest = Digest::Of(bytes);
  Publish(digest, std::move(bytes));
  return digest;
}

absl::StatusOr<std::unique_ptr<BlobWriter>> MemoryBlobStore::Write(const Digest& digest) {
  if (!digest.is_set()) return NoBlob(digest);
  if (Has(digest)) {
    return absl::AlreadyExistsError(absl::StrCat("blob ", digest.ToString(), " is in the store"));
  }
  return std::make_unique<Writer>(*this, digest);
}

int64_t MemoryBlobStore::PartialBytes(const Digest& digest) const {
  absl::MutexLock lock(&mutex_);
  const auto found = partial_.find(digest);
  return found == partial_.end() ? 0 : static_cast<int64_t>(found->second.bytes.size());
}

absl::StatusOr<UnfinishedBlobs> MemoryBlobStore::CountUnfinished() const {
  absl::MutexLock lock(&mutex_);
  UnfinishedBlobs unfinished = with_writers_;
  for (const auto& [digest, partial] : partial_) {
    ++unfinished.count;
    unfinished.bytes += static_cast<int64_t>(partial.bytes.size());
  }
  return unfinished;
}

void MemoryBlobStore::DropUnfinished(absl::Duration idle) {
  absl::MutexLock lock(&mutex_);
  const absl::Time limit = clock_.Now() - idle;
  absl::erase_if(partial_, [&](const auto& entry) { return entry.second.last_write < limit; });
}

void MemoryBlobStore::CountWriter(int64_t writers, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  with_writers_.count += writers;
  with_writers_.bytes += bytes;
}

absl::Status MemoryBlobStore::Remove(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  blobs_.erase(digest);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BlobInfo>> MemoryBlobStore::List() const {
  absl::MutexLock lock(&mutex_);
  std::vector<BlobInfo> blobs;
  blobs.reserve(blobs_.size());
  for (const auto& [digest, entry] : blobs_) {
    blobs.push_back({digest, entry.last_use});
  }
  return blobs;
}

void MemoryBlobStore::Publish(const Digest& digest, std::string bytes) {
  absl::MutexLock lock(&mutex_);
  Entry& entry = blobs_[digest];
  entry.blob = Blob::Own(std::move(bytes));
  entry.last_use = clock_.Now();
}

std::string MemoryBlobStore::TakePartial(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  const auto found = partial_.find(digest);
  if (found == partial_.end()) return "";
  std::string bytes = std::move(found->second.bytes);
  partial_.erase(found);
  return bytes;
}

void MemoryBlobStore::KeepPartial(const Digest& digest, std::string bytes) {
  absl::MutexLock lock(&mutex_);
  if (!bytes.empty()) partial_[digest] = {std::move(bytes), clock_.Now()};
}

}  // namespace slipway
