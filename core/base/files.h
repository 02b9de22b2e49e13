// Files as values: whole-file reads and writes that are atomic and bounded, temporary folders, locks.
#ifndef SLIPWAY_CORE_BASE_FILES_H_
#define SLIPWAY_CORE_BASE_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway {

// Owns a file descriptor and closes it. Movable, not copyable.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// A read-only memory map of a whole file. Movable, not copyable. An empty file maps to no bytes.
class MappedFile {
 public:
  // NOT_FOUND, RESOURCE_EXHAUSTED when larger than `max_bytes`, INTERNAL with the path and errno.
  static absl::StatusOr<MappedFile> Open(const std::string& path, int64_t max_bytes);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  absl::string_view bytes() const { return absl::string_view(data_, size_); }
  // Gives back the memory that a part of bytes() takes; looking at it reads the file again.
  static void LetGo(absl::string_view part);

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// The status for a failed system call: the code that fits `error_number` (ENOENT NOT_FOUND, EEXIST
// ALREADY_EXISTS, EACCES/EPERM PERMISSION_DENIED, ENOSPC/EDQUOT/EFBIG/EMFILE/ENOMEM RESOURCE_EXHAUSTED,
// else INTERNAL) and the message "what: strerror".
absl::Status ErrnoStatus(int error_number, absl::string_view what);

// The whole file. NOT_FOUND; RESOURCE_EXHAUSTED when it is larger than `max_bytes`; directories and
// devices are INVALID_ARGUMENT.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// Replaces `path` by `bytes` in one step: written beside it, synced when `durable`, renamed. What is no file and no folder (a
// device, a pipe) is not replaced: it is written to.
// `mode` is what a new file may be used for, as far as the process's umask allows. RESOURCE_EXHAUSTED on a full disk, and
// then nothing is left behind.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes, bool durable,
                                 mode_t mode = 0666);

// Makes `path` and its parents, mode 0700 for what it makes. OK if it exists as a folder.
absl::Status MakeFolders(const std::string& path);

// Removes a file or a whole tree; OK when it does not exist. Does not follow links.
absl::Status RemoveTree(const std::string& path);

// A fresh folder, removed with all it holds on destruction unless released.
class TemporaryFolder {
 public:
  // Under $TMPDIR, or /tmp. `prefix` is part of its name.
  static absl::StatusOr<TemporaryFolder> Create(absl::string_view prefix);
  TemporaryFolder() = default;
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  std::string Release() { return std::exchange(path_, ""); }

 private:
  std::string path_;
};

// An exclusive advisory lock (flock) on a file, held until destruction or the process's end: and, where the process
// ended while it started another, for the moment until that one executes its program or is gone too.
class FileLock {
 public:
  // How long one is patient who follows, under the same lock, another that has just ended.
  static constexpr absl::Duration kTimeToLetGo = absl::Seconds(2);

  // Makes the file if needed. FAILED_PRECONDITION when another process holds it for as long as `patience`; the
  // message names the path and what the holder wrote into the file.
  static absl::StatusOr<FileLock> TryAcquire(const std::string& path, absl::string_view holder,
                                             absl::Duration patience = absl::ZeroDuration());
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) noexcept = default;

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// "a/b" from "a" and "b"; never doubles the slash.
std::string JoinPath(absl::string_view a, absl::string_view b);

// The folder for the user's caches: $XDG_CACHE_HOME/slipway, else $HOME/.cache/slipway.
// FAILED_PRECONDITION when neither variable is set.
absl::StatusOr<std::string> UserCacheFolder();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_FILES_H_
