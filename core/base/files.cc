#include "core/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr size_t kReadPieceBytes = 1 << 20;

std::string Quote(absl::string_view path) {
  return absl::StrCat("'", absl::Utf8SafeCEscape(path), "'");
}

absl::Status PathError(int error_number, absl::string_view verb, absl::string_view path) {
  return ErrnoStatus(error_number, absl::StrCat("cannot ", verb, " ", Quote(path)));
}

absl::Status TooLarge(absl::string_view path, int64_t max_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("file ", Quote(path), " is larger than the limit of ", max_bytes, " bytes"));
}

struct OpenFile {
  UniqueFd fd;
  int64_t size_bytes;
};

// Opens a regular file of at most `max_bytes` for reading.
absl::StatusOr<OpenFile> OpenRegularFile(const std::string& path, int64_t max_bytes) {
  // O_NONBLOCK: opening a pipe nobody writes to must not hang.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.is_open()) return PathError(errno, "open", path);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return PathError(errno, "stat", path);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(path), " is ", S_ISDIR(info.st_mode) ? "a folder" : "not a file"));
  }
  // Where pointers have 32 bits, no more can be in memory.
  max_bytes = std::min<int64_t>(max_bytes, PTRDIFF_MAX);
  if (info.st_size > max_bytes) return TooLarge(path, max_bytes);
  return OpenFile{std::move(fd), info.st_size};
}

absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return PathError(errno, "write", path);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

std::string ParentFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status SyncFolder(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return PathError(errno, "open", path);
  if (fsync(fd.get()) != 0) return PathError(errno, "sync", path);
  return absl::OkStatus();
}

// Makes a new file in `folder`, whose name no other call in any process uses. Its name is short, so
// that it fits wherever the final name fits.
absl::StatusOr<UniqueFd> CreateBeside(const std::string& folder, mode_t mode, std::string* path) {
  static std::atomic<uint64_t> counter{0};
  while (true) {
    *path = JoinPath(folder, absl::StrCat(".tmp-", getpid(), "-", counter++));
    UniqueFd fd(open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (fd.is_open()) return fd;
    // A leftover of a dead process that had our number: take the next name.
    if (errno != EEXIST) return PathError(errno, "create a file in", folder);
  }
}

bool IsDeviceOrPipe(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

absl::Status WriteTo(const std::string& path, absl::string_view bytes) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (!fd.is_open()) return PathError(errno, "open", path);
  return WriteAll(fd.get(), bytes, path);
}

}  // namespace

void UniqueFd::reset(int fd) {
  // Not retried on EINTR: Linux has closed the descriptor even then.
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

void MappedFile::LetGo(absl::string_view part) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(part.data()) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(part.data()) + part.size();
  // Private and never written to: what is dropped is as it is in the file. A failure costs memory alone.
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path, int64_t max_bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenFile file, OpenRegularFile(path, max_bytes));
  MappedFile mapped;
  if (file.size_bytes == 0) return mapped;
  void* const data =
      mmap(nullptr, static_cast<size_t>(file.size_bytes), PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
  if (data == MAP_FAILED) return PathError(errno, "map", path);
  mapped.data_ = static_cast<const char*>(data);
  mapped.size_ = static_cast<size_t>(file.size_bytes);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

absl::Status ErrnoStatus(int error_number, absl::string_view what) {
  absl::StatusCode code = absl::StatusCode::kInternal;
  switch (error_number) {
    case ENOENT:
      code = absl::StatusCode::kNotFound;
      break;
    case EEXIST:
      code = absl::StatusCode::kAlreadyExists;
      break;
    case EACCES:
    case EPERM:
      code = absl::StatusCode::kPermissionDenied;
      break;
    case EFBIG:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENOMEM:
      code = absl::StatusCode::kResourceExhausted;
      break;
    default:
      break;
  }
  char buffer[256];
  // The GNU strerror_r: the text may be elsewhere than in `buffer`.
  return absl::Status(code,
                      absl::StrCat(what, ": ", strerror_r(error_number, buffer, sizeof(buffer))));
}

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenFile file, OpenRegularFile(path, max_bytes));
  std::string bytes;
  // The size is only a hint: files under /proc claim none, and a file may grow while it is read.
  size_t room = static_cast<size_t>(file.size_bytes) + 1;
  size_t used = 0;
  while (true) {
    bytes.resize(used + room);
    const ssize_t count = read(file.fd.get(), &bytes[used], room);
    if (count < 0) {
      if (errno == EINTR) continue;
      return PathError(errno, "read", path);
    }
    used += static_cast<size_t>(count);
    if (static_cast<int64_t>(used) > max_bytes) return TooLarge(path, max_bytes);
    if (count == 0) break;
    room = bytes.size() - used;
    if (room == 0) room = std::clamp(used, size_t{4096}, kReadPieceBytes);
  }
  bytes.resize(used);
  return bytes;
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes, bool durable,
                                 mode_t mode) {
  if (IsDeviceOrPipe(path)) return WriteTo(path, bytes);
  const std::string folder = ParentFolder(path);
  std::string temporary;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(UniqueFd fd, CreateBeside(folder, mode, &temporary),
                                absl::StrCat("cannot write ", Quote(path)));
  absl::Status status = WriteAll(fd.get(), bytes, path);
  if (status.ok() && durable && fsync(fd.get()) != 0) status = PathError(errno, "sync", path);
  // close() reports what network file systems find out late.
  if (close(fd.release()) != 0 && status.ok()) status = PathError(errno, "close", path);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = PathError(errno, "replace", path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  // The rename itself is durable only when the folder is.
  return durable ? SyncFolder(folder) : absl::OkStatus();
}

absl::StatusOr<FileLock> FileLock::TryAcquire(const std::string& path, absl::string_view holder,
                                              absl::Duration patience) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return PathError(errno, "open", path);
  const absl::Time until = absl::Now() + patience;
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return PathError(errno, "lock", path);
    if (absl::Now() < until) {
      absl::SleepFor(absl::Milliseconds(10));
      continue;
    }
    char text[256];
    const ssize_t count = pread(fd.get(), text, sizeof(text), 0);
    const absl::string_view who(text, count > 0 ? static_cast<size_t>(count) : 0);
    return absl::FailedPreconditionError(
        absl::StrCat(Quote(path), " is locked by ",
                     who.empty() ? "another process" : absl::Utf8SafeCEscape(who)));
  }
  if (ftruncate(fd.get(), 0) != 0) return PathError(errno, "truncate", path);
  SLIPWAY_RETURN_IF_ERROR(WriteAll(fd.get(), holder, path));
  return FileLock(std::move(fd));
}

std::string JoinPath(absl::string_view a, absl::string_view b) {
  if (a.empty()) return std::string(b);
  return absl::StrCat(absl::StripSuffix(a, "/"), "/", absl::StripPrefix(b, "/"));
}

absl::StatusOr<std::string> UserCacheFolder() {
  // getenv is safe here: no process of ours changes its environment after start.
  const char* const cache = getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return JoinPath(cache, "slipway");
  const char* const home = getenv("HOME");
  if (home != nullptr && *home != '\0') return JoinPath(home, ".cache/slipway");
  return absl::FailedPreconditionError("no folder for caches: set HOME or XDG_CACHE_HOME");
}

}  // namespace slipway
