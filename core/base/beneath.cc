#include "core/base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

std::string Quote(absl::string_view path) {
  return absl::StrCat("'", absl::Utf8SafeCEscape(path), "'");
}

// Goes down by descriptors, a part at a time. What is found is opened for no more than to be looked at.
absl::StatusOr<UniqueFd> OpenBeneath(const std::string& folder, absl::string_view name) {
  std::string path = folder;
  UniqueFd at(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at.is_open()) return ErrnoStatus(errno, absl::StrCat("cannot open ", Quote(path)));
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(name), " is no name of a file below ", Quote(folder)));
    }
    path = JoinPath(path, part);
    at.reset(openat(at.get(), std::string(part).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!at.is_open()) return ErrnoStatus(errno, absl::StrCat("cannot open ", Quote(path)));
    struct stat info;
    if (fstat(at.get(), &info) != 0) return ErrnoStatus(errno, absl::StrCat("cannot stat ", path));
    if (S_ISLNK(info.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(path), " is a symbolic link, which may lead out of ", Quote(folder),
                       ": put there what it leads to, by cp -L"));
    }
  }
  return at;
}

}  // namespace

absl::StatusOr<MappedFile> MapBeneath(const std::string& folder, absl::string_view name,
                                      int64_t max_bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const UniqueFd fd, OpenBeneath(folder, name));
  const std::string path = JoinPath(folder, name);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, absl::StrCat("cannot stat ", path));
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(path), " is ", S_ISDIR(info.st_mode) ? "a folder" : "not a file"));
  }
  // The very file that was found, by its descriptor, whatever the path names by now.
  absl::StatusOr<MappedFile> file =
      MappedFile::Open(absl::StrCat("/proc/self/fd/", fd.get()), max_bytes);
  if (!file.ok()) return Annotate(file.status(), Quote(path));
  return file;
}

}  // namespace slipway
