// ListenSocket: what a server accepts its connections from.
#ifndef SLIPWAY_CORE_RPC_LISTEN_SOCKET_H_
#define SLIPWAY_CORE_RPC_LISTEN_SOCKET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/files.h"

namespace slipway {

// Sockets that listen, non-blocking: one, or one for each address that a host's name stands for. Movable.
struct ListenSocket {
  std::vector<UniqueFd> fds;
  std::string address;  // What clients connect to: as given, with the port taken.
};

// Listens at HOST:PORT or unix:PATH; port 0 takes a free one. A unix socket is for its owner alone (mode 0600), and takes
// the place of one that nobody listens at any more. INVALID_ARGUMENT for what is no address, UNAVAILABLE for one that is
// in use or not of this machine.
absl::StatusOr<ListenSocket> ListenAt(const std::string& address);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_LISTEN_SOCKET_H_
