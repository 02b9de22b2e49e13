// The functions of files.h that make and remove folders.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

absl::Status PathError(int error_number, absl::string_view verb, absl::string_view path) {
  return ErrnoStatus(error_number,
                     absl::StrCat("cannot ", verb, " '", absl::Utf8SafeCEscape(path), "'"));
}

bool IsFolder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// The names in a folder but "." and "..". Collected before anything is removed: changing a folder
// while reading it may skip entries.
absl::StatusOr<std::vector<std::string>> ListFolder(UniqueFd folder, const std::string& path) {
  DIR* const stream = fdopendir(folder.get());
  if (stream == nullptr) return PathError(errno, "list", path);
  folder.release();  // The stream owns it now.
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      names.emplace_back(entry->d_name);
    }
    errno = 0;
  }
  const int error_number = errno;
  closedir(stream);
  if (error_number != 0) return PathError(error_number, "list", path);
  return names;
}

// Removes `name` in the folder `parent`. Goes down by descriptors, so that a link put in the way
// leads nowhere else. `path` is for messages.
absl::Status RemoveAt(int parent, const std::string& name, const std::string& path) {
  if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  // Linux says EISDIR for a folder, POSIX and some file systems EPERM.
  if (errno != EISDIR && errno != EPERM) return PathError(errno, "remove", path);
  const int unlink_error = errno;
  const UniqueFd folder(
      openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) {
    if (errno == ENOENT) return absl::OkStatus();
    return PathError(errno == ENOTDIR ? unlink_error : errno, "remove", path);
  }
  UniqueFd copy(fcntl(folder.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) return PathError(errno, "list", path);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(std::move(copy), path));
  for (const std::string& child : names) {
    SLIPWAY_RETURN_IF_ERROR(RemoveAt(folder.get(), child, JoinPath(path, child)));
  }
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return PathError(errno, "remove", path);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeFolders(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("the name of a folder is empty");
  size_t end = 0;
  while (end != std::string::npos) {
    end = path.find('/', end + 1);
    const std::string folder = path.substr(0, end);
    if (mkdir(folder.c_str(), 0700) == 0) continue;
    const int error_number = errno;
    // Also when mkdir said EACCES or EROFS: what exists need not be made.
    if (!IsFolder(folder)) return PathError(error_number, "make folder", folder);
  }
  return absl::OkStatus();
}

absl::Status RemoveTree(const std::string& path) { return RemoveAt(AT_FDCWD, path, path); }

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create(absl::string_view prefix) {
  const char* const root = getenv("TMPDIR");
  std::string path =
      JoinPath(root != nullptr && *root != '\0' ? root : "/tmp", absl::StrCat(prefix, ".XXXXXX"));
  if (mkdtemp(path.data()) == nullptr) return PathError(errno, "make temporary folder", path);
  TemporaryFolder folder;
  folder.path_ = std::move(path);
  return folder;
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  const absl::Status status = RemoveTree(path_);
  if (!status.ok()) {
    Log(LogLevel::kWarning, "temporary folder stays",
        {{"path", path_}, {"error", status.message()}});
  }
}

}  // namespace slipway
