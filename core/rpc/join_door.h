// The join door: where who has no certificate yet gets one. It is no gRPC service, since strangers may knock: a connection carries
// one request and one answer over TLS 1.3 (ALPN kJoinProtocol), each after its length (4 bytes, big-endian), and is over.
#ifndef SLIPWAY_CORE_RPC_JOIN_DOOR_H_
#define SLIPWAY_CORE_RPC_JOIN_DOOR_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"

namespace slipway {

struct JoinDoorOptions {
  std::string identity_file;  // The server's; read for each connection.
  // Connections at a time, and as many more that wait for it. One more ends the one that came first.
  int most = 128;
  // A connection that is not over by then is ended.
  absl::Duration patience = absl::Seconds(5);
};

// The server's side: a thread that serves all connections, from construction to destruction.
class JoinDoor {
 public:
  // Answers a request; called on the door's thread, for one after the other. Both are the caller's to define. `peer` is where
  // it came from.
  using Handler = std::function<std::string(absl::string_view request, absl::string_view peer)>;

  // RESOURCE_EXHAUSTED when there are no descriptors for it.
  static absl::StatusOr<std::unique_ptr<JoinDoor>> Open(JoinDoorOptions options, Handler handler);
  virtual ~JoinDoor() = default;

  // Takes a connected, non-blocking socket, and where it comes from, as GrpcPeerOf tells. Thread-safe; returns at once.
  virtual void Take(UniqueFd connection, std::string peer) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_JOIN_DOOR_H_
