// Files and folders that only their user may write to, and secrets that only he may read.
#ifndef SLIPWAY_CORE_BASE_OWN_FILES_H_
#define SLIPWAY_CORE_BASE_OWN_FILES_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway {

// Whether `user` may trust what is in the folder: it is his or root's, and nobody else may write to it. PERMISSION_DENIED
// says what mends it. Its parents are not looked at. `path` is for messages.
absl::Status CheckOwnFolder(const struct stat& folder, uid_t user, absl::string_view path);

// Whether `user` may take the file for a secret: one of his own nobody else may read, one that root gives him others may
// read by its group alone; and nobody else may write to it. PERMISSION_DENIED says what mends it. `path` is for messages.
absl::Status CheckSecretFile(const struct stat& file, uid_t user, absl::string_view path);

// Makes a folder and its parents, mode 0700 for what it makes, and checks it for the user of this process. Errors of
// MakeFolders and CheckOwnFolder.
absl::Status MakeOwnFolder(const std::string& path);

// CheckSecretFile for the user of this process. NOT_FOUND.
absl::Status CheckSecretFile(const std::string& path);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_OWN_FILES_H_
