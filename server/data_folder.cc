#include "server/data_folder.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway::server {

absl::StatusOr<FileLock> LockDataFolder(const std::string& folder, absl::string_view holder) {
  absl::StatusOr<FileLock> lock = FileLock::TryAcquire(
      JoinPath(folder, kLockName), absl::StrCat(holder, ", process ", getpid()));
  SLIPWAY_RETURN_IF_ERROR_WITH(
      lock.status(), absl::StrCat("the data folder '", folder, "' belongs to another server"));
  return lock;
}

}  // namespace slipway::server
