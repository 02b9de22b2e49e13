#include "server/compile_worker/abandoned_folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/log.h"

namespace slipway::worker {
namespace {

// Open and locked; not open if it is no folder, another's, changed lately, or held.
UniqueFd TakeAbandoned(const std::string& path, absl::Time before) {
  UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (!folder.is_open() || fstat(folder.get(), &info) != 0 || info.st_uid != geteuid() ||
      absl::TimeFromTimespec(info.st_mtim) >= before ||
      flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    return UniqueFd();
  }
  return folder;
}

}  // namespace

absl::StatusOr<UniqueFd> HoldFolder(const std::string& path) {
  UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && flock(folder.get(), LOCK_SH | LOCK_NB) == 0) return folder;
  return ErrnoStatus(errno, absl::StrCat("cannot hold folder '", absl::Utf8SafeCEscape(path), "'"));
}

int RemoveAbandonedFolders(const std::string& parent, absl::string_view prefix, absl::Time before) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(parent.c_str()), closedir);
  if (entries == nullptr) return 0;
  int removed = 0;
  while (const dirent* entry = readdir(entries.get())) {
    if (!absl::StartsWith(entry->d_name, prefix)) continue;
    const std::string path = JoinPath(parent, entry->d_name);
    const UniqueFd taken = TakeAbandoned(path, before);
    if (!taken.is_open()) continue;
    const absl::Status status = RemoveTree(path);
    if (status.ok()) {
      ++removed;
    } else {
      Log(LogLevel::kWarning, "temporary folder stays",
          {{"path", path}, {"why", status.message()}});
    }
  }
  return removed;
}

}  // namespace slipway::worker
