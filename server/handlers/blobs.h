// BlobService. A blob is named by its digest, and nothing lists blobs: who knows the name may read it.
#ifndef SLIPWAY_SERVER_HANDLERS_BLOBS_H_
#define SLIPWAY_SERVER_HANDLERS_BLOBS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/blob.pb.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status FindMissing(const Environment& env, const v1::FindMissingRequest& request,
                         v1::FindMissingResponse* response);
absl::Status QueryWrite(const Environment& env, const v1::QueryWriteRequest& request,
                        v1::QueryWriteResponse* response);

// One call of Write. Not thread-safe but for LetGo.
// Whether the caller may begin a transfer into the server. RESOURCE_EXHAUSTED where memory is short; agents and workers may then, too, as
// they bring what is waited for.
absl::Status MayWrite(const Caller& caller, const Environment& env);

class BlobUpload final : public OpenUpload {
 public:
  // `owner` is whose call it is.
  BlobUpload(const Environment& env, std::string owner) : env_(env), owner_(std::move(owner)) {}
  ~BlobUpload() override;
  bool LetGo() override;
  // Takes the next message. The statuses of Write; after a failure the transfer can be resumed by another call.
  absl::Status Take(const v1::WriteRequest& request);
  // The blob was there already: nothing more needs to be read.
  bool is_known() const { return is_known_; }
  // After the last message, or when is_known().
  absl::Status Finish(v1::WriteResponse* response);

 private:
  absl::Status TakeOrFail(const v1::WriteRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Begin(const v1::WriteRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Opens the file again that it let go of.
  absl::Status GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OpenWriter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CloseWriter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Environment& env_;
  const std::string owner_;
  absl::Mutex mutex_;
  Digest digest_;  // Set by the first message.
  std::unique_ptr<BlobWriter> writer_ ABSL_GUARDED_BY(mutex_);
  int64_t offset_ = 0;  // Of the next piece.
  bool is_known_ = false;
};

// One call of Read. Not thread-safe.
class BlobDownload {
 public:
  // `owner` is whose call it is. NOT_FOUND, OUT_OF_RANGE, INVALID_ARGUMENT; DATA_LOSS when what was here has been found
  // rotten; UNAVAILABLE of OpenDownloads.
  static absl::StatusOr<std::unique_ptr<BlobDownload>> Open(const Environment& env,
                                                            std::string owner,
                                                            const v1::ReadRequest& request);
  ~BlobDownload();
  BlobDownload(const BlobDownload&) = delete;
  BlobDownload& operator=(const BlobDownload&) = delete;
  // Puts the next piece into `response`; false when there is none left. DATA_LOSS when the blob was changed meanwhile.
  absl::StatusOr<bool> Next(v1::ReadResponse* response);

 private:
  // REQUIRES: `downloads` counts it.
  BlobDownload(OpenDownloads* downloads, std::string owner)
      : downloads_(*downloads), owner_(std::move(owner)) {}

  OpenDownloads& downloads_;
  const std::string owner_;
  std::unique_ptr<BlobReader> reader_;
  int64_t size_ = 0;
  int64_t offset_ = 0;
  bool began_ = false;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_BLOBS_H_
