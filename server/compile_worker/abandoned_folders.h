// Temporary folders of compile children whose worker was killed: nobody else removes them.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_ABANDONED_FOLDERS_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_ABANDONED_FOLDERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"

namespace slipway::worker {

// Says that a folder is in use for as long as the descriptor is open; a process that is killed closes it. Children do not
// inherit it. Errors of open(2) and flock(2).
absl::StatusOr<UniqueFd> HoldFolder(const std::string& path);

// Removes the folders in `parent` whose names begin with `prefix`, that nobody holds, that are this user's, and that were
// not changed since `before`: who has just made one may not hold it yet. Returns how many. What cannot be removed is
// logged and stays.
int RemoveAbandonedFolders(const std::string& parent, absl::string_view prefix, absl::Time before);

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_ABANDONED_FOLDERS_H_
