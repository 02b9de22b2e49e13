// HeldConnection: a connection that somebody else, gRPC, will close.
#ifndef SLIPWAY_CORE_RPC_HELD_CONNECTION_H_
#define SLIPWAY_CORE_RPC_HELD_CONNECTION_H_

#include <cstdint>
#include <string>

namespace slipway {

// One connection. A descriptor's number is used again when it is closed; the number of its socket is not.
struct HeldConnection {
  int fd = -1;
  uint64_t socket = 0;
  std::string peer;  // Whom it comes from; empty for those whom only `all` limits.

  friend bool operator==(const HeldConnection&, const HeldConnection&) = default;
};

// The number of the socket that a descriptor is now; 0 when it is none.
uint64_t SocketNumber(int fd);

// Whether it is not closed yet.
bool IsOpen(const HeldConnection& connection);

// Ends it, whoever holds it; nobody reads what has come over it.
void EndConnection(const HeldConnection& connection);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_HELD_CONNECTION_H_
