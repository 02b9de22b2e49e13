#include "server/web/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <limits>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "core/base/blob.h"
#include "core/base/status_macros.h"

namespace slipway::web {
namespace {

// Of an upload folder, where files lie; all else in it is left alone.
constexpr char kUploads[] = "uploads";

}  // namespace

class Upload final : public HttpBodySink {
 public:
  Upload(UploadFolder* folder, std::string path) : folder_(*folder), path_(std::move(path)) {}
  ~Upload() override {
    if (fd_.is_open()) unlink(path_.c_str());
    --folder_.open_;
  }

  absl::Status Append(absl::string_view piece) override {
    if (piece.empty()) return absl::OkStatus();
    if (!fd_.is_open()) {
      fd_.reset(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (!fd_.is_open()) return ErrnoStatus(errno, absl::StrCat("cannot make \"", path_, "\""));
    }
    hasher_.Update(piece);
    while (!piece.empty()) {
      const ssize_t written = write(fd_.get(), piece.data(), piece.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrnoStatus(errno, "cannot keep the upload");
      piece.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Digest> SendTo(Upstream& upstream) {
    if (!fd_.is_open()) return absl::InvalidArgumentError("the file is empty");
    const Digest digest = hasher_.Finish();
    SLIPWAY_ASSIGN_OR_RETURN(MappedFile file,
                             MappedFile::Open(path_, std::numeric_limits<int64_t>::max()));
    const Blob blob = Blob::Own(std::move(file));
    SLIPWAY_RETURN_IF_ERROR(upstream.SendBlob(digest, blob));
    return digest;
  }

 private:
  UploadFolder& folder_;
  const std::string path_;
  UniqueFd fd_;
  Hasher hasher_;
};

absl::StatusOr<std::unique_ptr<UploadFolder>> UploadFolder::Open(const std::string& path,
                                                                 int most) {
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(path));
  SLIPWAY_ASSIGN_OR_RETURN(FileLock lock,
                           FileLock::TryAcquire(JoinPath(path, "lock"), "slipway-web"));
  const std::string kept = JoinPath(path, kUploads);
  SLIPWAY_RETURN_IF_ERROR(RemoveTree(kept));
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(kept));
  return absl::WrapUnique(new UploadFolder(kept, most, std::move(lock)));
}

absl::StatusOr<std::unique_ptr<HttpBodySink>> UploadFolder::Begin() {
  if (++open_ > most_) {
    --open_;
    return absl::ResourceExhaustedError(
        absl::StrCat(most_, " files are being uploaded: wait until one has come"));
  }
  return std::make_unique<Upload>(this, JoinPath(path_, absl::StrCat(++next_)));
}

absl::StatusOr<Digest> SendUpload(HttpBodySink& sink, Upstream& upstream) {
  return static_cast<Upload&>(sink).SendTo(upstream);
}

}  // namespace slipway::web
