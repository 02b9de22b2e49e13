// What slipwayd owes to whoever started it.
#ifndef SLIPWAY_SERVER_PARENT_H_
#define SLIPWAY_SERVER_PARENT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway::server {

// Writes a line with the address to `fd` and closes it. INVALID_ARGUMENT when it cannot be written to.
absl::Status TellReady(int fd, absl::string_view address);

// From now on this process gets a SIGTERM when its parent ends: by the lifeline where the parent gave one, else
// when the thread that started this process ends. Call once, in main. FAILED_PRECONDITION when the parent has
// ended already.
absl::Status EndWithParent();

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PARENT_H_
