#include "core/store/quota_blob_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {

class QuotaBlobStore::Writer final : public BlobWriter {
 public:
  // What it has not got yet is promised.
  Writer(QuotaBlobStore& store, int64_t size, std::unique_ptr<BlobWriter> writer)
      : store_(store),
        size_(size),
        left_(size - writer->committed_bytes()),
        writer_(std::move(writer)) {}
  ~Writer() override {
    store_.Redeem(left_);
    // What has come stays for a later writer, and goes on counting.
    store_.Release(is_dropped_ ? size_ : left_);
  }

  int64_t committed_bytes() const override { return writer_->committed_bytes(); }
  absl::Status Append(absl::string_view bytes) override {
    const absl::Status status = writer_->Append(bytes);
    const int64_t left = size_ - writer_->committed_bytes();
    store_.Redeem(left_ - left);
    left_ = left;
    return status;
  }
  absl::Status Commit() override {
    absl::Status status = writer_->Commit();
    is_dropped_ = absl::IsInvalidArgument(status);
    return status;
  }

 private:
  QuotaBlobStore& store_;
  const int64_t size_;
  int64_t left_;  // Promised.
  const std::unique_ptr<BlobWriter> writer_;
  bool is_dropped_ = false;
};

QuotaBlobStore::QuotaBlobStore(std::unique_ptr<BlobStore> store, Options options)
    : store_(std::move(store)),
      options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock_) {
  SLIPWAY_CHECK(options_.quota_bytes > 0, "a quota must be above 0");
}

absl::StatusOr<std::vector<BlobInfo>> QuotaBlobStore::Recount() {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<BlobInfo> blobs, store_->List());
  SLIPWAY_ASSIGN_OR_RETURN(const UnfinishedBlobs unfinished, store_->CountUnfinished());
  used_bytes_ = unfinished.bytes + promised_bytes_;
  for (const BlobInfo& blob : blobs) used_bytes_ += blob.digest.size_bytes();
  return blobs;
}

absl::Status QuotaBlobStore::Reserve(const Digest& digest, int64_t bytes) {
  if (digest.size_bytes() > options_.quota_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("blob of ", digest.size_bytes(),
                                                     " bytes is over the quota of ",
                                                     options_.quota_bytes, " bytes"));
  }
  const int64_t most = options_.quota_bytes - bytes;
  absl::MutexLock lock(&mutex_);
  if (used_bytes_ >= 0 && used_bytes_ <= most) {
    used_bytes_ += bytes;
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<BlobInfo> blobs, Recount());
  if (used_bytes_ > most) {
    store_->DropUnfinished(kKeepUnfinished);
    SLIPWAY_ASSIGN_OR_RETURN(blobs, Recount());
  }
  if (used_bytes_ > most) {
    std::sort(blobs.begin(), blobs.end(),
              [](const BlobInfo& a, const BlobInfo& b) { return a.last_use < b.last_use; });
    absl::flat_hash_set<Digest> pinned;
    if (options_.pinned) pinned = options_.pinned();
    const absl::Time limit = clock_.Now() - options_.keep_for;
    for (const BlobInfo& blob : blobs) {
      if (used_bytes_ <= most || blob.last_use > limit) break;
      if (blob.digest == digest || pinned.contains(blob.digest)) continue;
      SLIPWAY_RETURN_IF_ERROR(store_->Remove(blob.digest));
      used_bytes_ -= blob.digest.size_bytes();
    }
  }
  if (used_bytes_ > most) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no room for a blob of ", bytes, " bytes: ", used_bytes_, " of the quota of ",
        options_.quota_bytes, " bytes are in use or recent; raise the quota or try again later"));
  }
  used_bytes_ += bytes;
  return absl::OkStatus();
}

void QuotaBlobStore::Release(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (used_bytes_ >= 0) used_bytes_ = std::max<int64_t>(0, used_bytes_ - bytes);
}

void QuotaBlobStore::Redeem(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  promised_bytes_ -= bytes;
}

bool QuotaBlobStore::Has(const Digest& digest) const { return store_->Has(digest); }

absl::Status QuotaBlobStore::Verify(const Digest& digest) {
  const absl::Status status = store_->Verify(digest);
  if (absl::IsDataLoss(status)) Release(digest.size_bytes());
  return status;
}

absl::StatusOr<Blob> QuotaBlobStore::Get(const Digest& digest) { return store_->Get(digest); }

absl::StatusOr<std::unique_ptr<BlobReader>> QuotaBlobStore::Open(const Digest& digest) {
  absl::StatusOr<std::unique_ptr<BlobReader>> reader = store_->Open(digest);
  if (absl::IsDataLoss(reader.status())) Release(digest.size_bytes());
  return reader;
}

absl::Status QuotaBlobStore::Put(const Digest& digest, absl::string_view bytes) {
  if (Has(digest)) return store_->Put(digest, bytes);
  SLIPWAY_RETURN_IF_ERROR(Reserve(digest, digest.size_bytes()));
  absl::Status status = store_->Put(digest, bytes);
  if (!status.ok()) Release(digest.size_bytes());
  return status;
}

absl::StatusOr<Digest> QuotaBlobStore::PutFile(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path, INT64_MAX));
  Digest digest = Digest::Of(file.bytes());
  SLIPWAY_RETURN_IF_ERROR(Put(digest, file.bytes()));
  return digest;
}

absl::StatusOr<std::unique_ptr<BlobWriter>> QuotaBlobStore::Write(const Digest& digest) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<BlobWriter> writer, store_->Write(digest));
  const int64_t left = digest.size_bytes() - writer->committed_bytes();
  SLIPWAY_RETURN_IF_ERROR(Reserve(digest, left));
  Redeem(-left);
  return std::make_unique<Writer>(*this, digest.size_bytes(), std::move(writer));
}

int64_t QuotaBlobStore::PartialBytes(const Digest& digest) const {
  return store_->PartialBytes(digest);
}

absl::StatusOr<UnfinishedBlobs> QuotaBlobStore::CountUnfinished() const {
  return store_->CountUnfinished();
}

void QuotaBlobStore::DropUnfinished(absl::Duration idle) {
  store_->DropUnfinished(idle);
  // What that was is found out by who needs room.
}

absl::Status QuotaBlobStore::Remove(const Digest& digest) {
  const bool was_there = Has(digest);
  SLIPWAY_RETURN_IF_ERROR(store_->Remove(digest));
  if (was_there) Release(digest.size_bytes());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BlobInfo>> QuotaBlobStore::List() const { return store_->List(); }

absl::StatusOr<int64_t> QuotaBlobStore::UsedBytes() {
  absl::MutexLock lock(&mutex_);
  if (used_bytes_ < 0) SLIPWAY_RETURN_IF_ERROR(Recount().status());
  return used_bytes_;
}

}  // namespace slipway
