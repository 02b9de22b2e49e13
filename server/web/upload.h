// A model's file on its way from a browser to the server: it lies on the disk meanwhile, never in memory.
#ifndef SLIPWAY_SERVER_WEB_UPLOAD_H_
#define SLIPWAY_SERVER_WEB_UPLOAD_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/http/http_listener.h"
#include "server/web/upstream.h"

namespace slipway::web {

// Where uploads lie, and how many there are. Thread-safe; outlives its uploads.
class UploadFolder {
 public:
  // Makes the folder, which is one process's alone, and removes what one that was killed has left there. FAILED_PRECONDITION where another has it;
  // errors of the disk.
  static absl::StatusOr<std::unique_ptr<UploadFolder>> Open(const std::string& path, int most);

  // RESOURCE_EXHAUSTED where there are too many at a time. Does not wait: the file is made with the first piece.
  absl::StatusOr<std::unique_ptr<HttpBodySink>> Begin();

 private:
  friend class Upload;
  UploadFolder(std::string path, int most, FileLock lock)
      : path_(std::move(path)), most_(most), lock_(std::move(lock)) {}

  const std::string path_;
  const int most_;
  const FileLock lock_;
  std::atomic<int> open_ = 0;
  std::atomic<int64_t> next_ = 0;
};

// The whole of `sink`, one of Begin, is sent; its file goes. INVALID_ARGUMENT for an empty one; errors of the disk and of sending.
absl::StatusOr<Digest> SendUpload(HttpBodySink& sink, Upstream& upstream);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_UPLOAD_H_
