// Where the user's programs keep their state and what is set up for them.
#ifndef SLIPWAY_CORE_BASE_STATE_FOLDER_H_
#define SLIPWAY_CORE_BASE_STATE_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace slipway {

// $XDG_STATE_HOME/slipway, else $HOME/.local/state/slipway; a variable that is no absolute path counts as not set, as the
// XDG base directory specification wants it. FAILED_PRECONDITION when neither is.
absl::StatusOr<std::string> UserStateFolder();

// The same of $XDG_CONFIG_HOME/slipway, else $HOME/.config/slipway.
absl::StatusOr<std::string> UserConfigFolder();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_STATE_FOLDER_H_
