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
  Writer(QuotaBlobStore& store, Digest digest, std::unique_ptr<BlobWriter> writer)
      : store_(store), digest_(std::move(digest)), writer_(std::move(writer)) {}

  int64_t committed_bytes() const override { return writer_->committed_bytes(); }
  absl::Status Append(absl::string_view bytes) override { return writer_->Append(bytes); }
  absl::Status Commit() override {
    SLIPWAY_RETURN_IF_ERROR(store_.Reserve(digest_));
    absl::Status status = writer_->Commit();
    if (!status.ok()) store_.Release(digest_);
    return status;
  }

 private:
  QuotaBlobStore& store_;
  const Digest digest_;
  const std::unique_ptr<BlobWriter> writer_;
};

QuotaBlobStore::QuotaBlobStore(std::unique_ptr<BlobStore> store, Options options)
    : store_(std::move(store)),
      options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock_) {
  SLIPWAY_CHECK(options_.quota_bytes > 0, "a quota must be above 0");
}

absl::Status QuotaBlobStore::Reserve(const Digest& digest) {
  const int64_t bytes = digest.size_bytes();
  if (bytes > options_.quota_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "blob of ", bytes, " bytes is over the quota of ", options_.quota_bytes, " bytes"));
  }
  absl::MutexLock lock(&mutex_);
  if (used_bytes_ >= 0 && used_bytes_ <= options_.quota_bytes - bytes) {
    used_bytes_ += bytes;
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<BlobInfo> blobs, store_->List());
  used_bytes_ = 0;
  for (const BlobInfo& blob : blobs) used_bytes_ += blob.digest.size_bytes();
  if (used_bytes_ > options_.quota_bytes - bytes) {
    std::sort(blobs.begin(), blobs.end(),
              [](const BlobInfo& a, const BlobInfo& b) { return a.last_use < b.last_use; });
    absl::flat_hash_set<Digest> pinned;
    if (options_.pinned) pinned = options_.pinned();
    const absl::Time limit = clock_.Now() - options_.keep_for;
    for (const BlobInfo& blob : blobs) {
      if (used_bytes_ <= options_.quota_bytes - bytes || blob.last_use > limit) {
        break;
      }
      if (blob.digest == digest || pinned.contains(blob.digest)) continue;
      SLIPWAY_RETURN_IF_ERROR(store_->Remove(blob.digest));
      used_bytes_ -= blob.digest.size_bytes();
    }
  }
  if (used_bytes_ > options_.quota_bytes - bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no room for a blob of ", bytes, " bytes: ", used_bytes_, " of the quota of ",
        options_.quota_bytes, " bytes are in use or recent; raise the quota or try again later"));
  }
  used_bytes_ += bytes;
  return absl::OkStatus();
}

void QuotaBlobStore::Release(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  used_bytes_ = std::max<int64_t>(0, used_bytes_ - digest.size_bytes());
}

bool QuotaBlobStore::Has(const Digest& digest) const { return store_->Has(digest); }

absl::StatusOr<Blob> QuotaBlobStore::Get(const Digest& digest) { return store_->Get(digest); }

absl::Status QuotaBlobStore::Put(const Digest& digest, absl::string_view bytes) {
  if (Has(digest)) return store_->Put(digest, bytes);
  SLIPWAY_RETURN_IF_ERROR(Reserve(digest));
  absl::Status status = store_->Put(digest, bytes);
  if (!status.ok()) Release(digest);
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
  // So that no bytes are sent in vain; they are counted when all are here.
  SLIPWAY_RETURN_IF_ERROR(Reserve(digest));
  Release(digest);
  return std::make_unique<Writer>(*this, digest, std::move(writer));
}

int64_t QuotaBlobStore::PartialBytes(const Digest& digest) const {
  return store_->PartialBytes(digest);
}

absl::Status QuotaBlobStore::Remove(const Digest& digest) {
  const bool was_there = Has(digest);
  SLIPWAY_RETURN_IF_ERROR(store_->Remove(digest));
  if (was_there) Release(digest);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BlobInfo>> QuotaBlobStore::List() const { return store_->List(); }

}  // namespace slipway
