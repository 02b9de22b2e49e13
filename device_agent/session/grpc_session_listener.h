// SessionListener: serves sessions to clients that call this agent.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_GRPC_SESSION_LISTENER_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_GRPC_SESSION_LISTENER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "device_agent/session/session_entrance.h"

namespace slipway {

class SessionListener {
 public:
  struct Options {
    std::string address;  // HOST:PORT or unix:PATH, port 0 takes a free one.
    // Callers come over TLS, with certificates of the authority in this identity file (core/identity/identity_file.h); empty: without.
    std::string identity_file;
  };
  // Listens; calls wait until Serve. UNAVAILABLE when the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<SessionListener>> Start(const Options& options);
  virtual ~SessionListener() = default;

  // Connections go to `entrance` from now on, until EndServing.
  virtual void Serve(SessionEntrance* entrance) = 0;
  // Ends all connections; none is told to the entrance after this.
  virtual void EndServing() = 0;

  // What clients connect to: as given, with the port taken.
  virtual const std::string& address() const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_GRPC_SESSION_LISTENER_H_
