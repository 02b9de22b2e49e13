#include "core/base/state_folder.h"

#include <stdlib.h>

#include "absl/status/status.h"
#include "core/base/files.h"

namespace slipway {

absl::StatusOr<std::string> UserStateFolder() {
  // getenv is safe here: no process of ours changes its environment after start.
  const char* const state = getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return JoinPath(state, "slipway");
  const char* const home = getenv("HOME");
  if (home != nullptr && *home == '/') return JoinPath(home, ".local/state/slipway");
  return absl::FailedPreconditionError("no folder for state: set HOME or XDG_STATE_HOME");
}

}  // namespace slipway
