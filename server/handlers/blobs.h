// BlobService. A blob is named by its digest, and nothing lists blobs: who knows the name may read it.
#ifndef SLIPWAY_SERVER_HANDLERS_BLOBS_H_
#define SLIPWAY_SERVER_HANDLERS_BLOBS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/blob.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/blob.pb.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status FindMissing(const Environment& env, const v1::FindMissingRequest& request,
                         v1::FindMissingResponse* response);
absl::Status QueryWrite(const Environment& env, const v1::QueryWriteRequest& request,
                        v1::QueryWriteResponse* response);

// One call of Write. Not thread-safe.
class BlobUpload {
 public:
  explicit BlobUpload(const Environment& env) : env_(env) {}
  // Takes the next message. The statuses of Write; after a failure the transfer can be resumed by another call.
  absl::Status Take(const v1::WriteRequest& request);
  // The blob was there already: nothing more needs to be read.
  bool is_known() const { return is_known_; }
  // After the last message, or when is_known().
  absl::Status Finish(v1::WriteResponse* response);

 private:
  absl::Status TakeOrFail(const v1::WriteRequest& request);
  absl::Status Begin(const v1::WriteRequest& request);

  const Environment& env_;
  Digest digest_;
  std::unique_ptr<BlobWriter> writer_;
  int64_t offset_ = 0;  // Of the next piece.
  bool is_known_ = false;
};

// One call of Read. Not thread-safe.
class BlobDownload {
 public:
  // NOT_FOUND, OUT_OF_RANGE, INVALID_ARGUMENT.
  static absl::StatusOr<BlobDownload> Open(const Environment& env, const v1::ReadRequest& request);
  // Puts the next piece into `response`; false when there is none left.
  bool Next(v1::ReadResponse* response);

 private:
  Blob blob_;
  int64_t offset_ = 0;
  bool began_ = false;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_BLOBS_H_
