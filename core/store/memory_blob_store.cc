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
  }
  ~Writer() override {
    if (!is_done_) store_.KeepPartial(digest_, std::move(bytes_));
  }

  int64_t committed_bytes() const override { return static_cast<int64_t>(bytes_.size()); }
  absl::Status Append(absl::string_view bytes) override {
    if (static_cast<int64_t>(bytes.size()) > digest_.size_bytes() - committed_bytes()) {
      return absl::InvalidArgumentError(absl::StrCat("more than the ", digest_.size_bytes(),
                                                     " bytes of blob ", digest_.ToString()));
    }
    bytes_.append(bytes.data(), bytes.size());
    hasher_.Update(bytes);
    return absl::OkStatus();
  }
  absl::Status Commit() override {
    is_done_ = true;
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

MemoryBlobStore::MemoryBlobStore(const Clock* clock)
    : clock_(clock != nullptr ? *clock : system_clock_) {}

bool MemoryBlobStore::Has(const Digest& digest) const {
  absl::MutexLock lock(&mutex_);
  return blobs_.contains(digest);
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
  return found == partial_.end() ? 0 : static_cast<int64_t>(found->second.size());
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
  std::string bytes = std::move(found->second);
  partial_.erase(found);
  return bytes;
}

void MemoryBlobStore::KeepPartial(const Digest& digest, std::string bytes) {
  absl::MutexLock lock(&mutex_);
  if (!bytes.empty()) partial_[digest] = std::move(bytes);
}

}  // namespace slipway
