// Where the user's programs keep their state.
#ifndef SLIPWAY_CORE_BASE_STATE_FOLDER_H_
#define SLIPWAY_CORE_BASE_STATE_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace slipway {

// $XDG_STATE_HOME/slipway, else $HOME/.local/state/slipway; a variable that is no absolute path counts as not set, as the
// XDG base directory specification wants it. FAILED_PRECONDITION when neither is.
absl::StatusOr<std::string> UserStateFolder();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_STATE_FOLDER_H_
