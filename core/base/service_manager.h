// What a service tells whoever started it, by the protocol of sd_notify(3): systemd, or another manager that sets $NOTIFY_SOCKET.
#ifndef SLIPWAY_CORE_BASE_SERVICE_MANAGER_H_
#define SLIPWAY_CORE_BASE_SERVICE_MANAGER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway {

// Sends `state`, such as "READY=1", to the socket of that address: a path, or "@" and a name that is no file's. OK, with nothing done, where
// it is empty. Does not wait for the manager: UNAVAILABLE where it does not take it.
absl::Status NotifyServiceManager(absl::string_view socket, absl::string_view state);
// The same to $NOTIFY_SOCKET.
absl::Status NotifyServiceManager(absl::string_view state);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_SERVICE_MANAGER_H_
