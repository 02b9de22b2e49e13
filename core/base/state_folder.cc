#include "core/base/state_folder.h"

#include <stdlib.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"

namespace slipway {
namespace {

// `below_home` is the folder in place of the one in `variable`; `what` is for whom it is, for messages.
absl::StatusOr<std::string> UserFolder(const char* variable, absl::string_view below_home,
                                       absl::string_view what) {
  // getenv is safe here: no process of ours changes its environment after start.
  const char* const folder = getenv(variable);
  if (folder != nullptr && *folder == '/') return JoinPath(folder, "slipway");
  const char* const home = getenv("HOME");
  if (home != nullptr && *home == '/') return JoinPath(JoinPath(home, below_home), "slipway");
  return absl::FailedPreconditionError(
      absl::StrCat("no folder for ", what, ": set HOME or ", variable));
}

}  // namespace

absl::StatusOr<std::string> UserStateFolder() {
  return UserFolder("XDG_STATE_HOME", ".local/state", "state");
}

absl::StatusOr<std::string> UserConfigFolder() {
  return UserFolder("XDG_CONFIG_HOME", ".config", "configuration");
}

}  // namespace slipway
