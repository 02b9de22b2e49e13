// CountingBlobStore: counts what is removed from a store. Below a QuotaBlobStore that is what it evicts.
#ifndef SLIPWAY_SERVER_ARTIFACTS_COUNTING_BLOB_STORE_H_
#define SLIPWAY_SERVER_ARTIFACTS_COUNTING_BLOB_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/store/blob_store.h"

namespace slipway::server {

// Thread-safe.
class CountingBlobStore final : public BlobStore {
 public:
  // `removed` must outlive this.
  CountingBlobStore(std::unique_ptr<BlobStore> store, std::atomic<int64_t>* removed)
      : store_(std::move(store)), removed_(*removed) {}

  bool Has(const Digest& digest) const override { return store_->Has(digest); }
  absl::Status Verify(const Digest& digest) override { return store_->Verify(digest); }
  absl::StatusOr<Blob> Get(const Digest& digest) override { return store_->Get(digest); }
  absl::StatusOr<std::unique_ptr<BlobReader>> Open(const Digest& digest) override {
    return store_->Open(digest);
  }
  absl::Status Put(const Digest& digest, absl::string_view bytes) override {
    return store_->Put(digest, bytes);
  }
  absl::StatusOr<Digest> PutFile(const std::string& path) override { return store_->PutFile(path); }
  absl::StatusOr<std::unique_ptr<BlobWriter>> Write(const Digest& digest) override {
    return store_->Write(digest);
  }
  int64_t PartialBytes(const Digest& digest) const override { return store_->PartialBytes(digest); }
  absl::StatusOr<UnfinishedBlobs> CountUnfinished() const override {
    return store_->CountUnfinished();
  }
  void DropUnfinished(absl::Duration idle) override { store_->DropUnfinished(idle); }
  absl::Status Remove(const Digest& digest) override {
    const absl::Status status = store_->Remove(digest);
    if (status.ok()) ++removed_;
    return status;
  }
  absl::StatusOr<std::vector<BlobInfo>> List() const override { return store_->List(); }

 private:
  const std::unique_ptr<BlobStore> store_;
  std::atomic<int64_t>& removed_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_ARTIFACTS_COUNTING_BLOB_STORE_H_
