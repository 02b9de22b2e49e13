// SessionConnection: a session's way to its client, as the host sees it.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_CONNECTION_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_CONNECTION_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace slipway {

class SessionHost;

// Thread-safe. No method waits, or calls the host before it returns.
class SessionConnection {
 public:
  virtual ~SessionConnection() = default;

  // What comes goes to `host` from now on, which takes a message at a time; SessionHost::Detach is the last call.
  virtual void Attached(std::shared_ptr<SessionHost> host) = 0;
  // Writes a message behind those before it. One with data is not put together with others that follow.
  virtual void Send(absl::Cord message, bool has_data) = 0;
  // The next message may come; to be called once for each.
  virtual void ReadNext() = 0;
  // Ends the connection when what was sent is written, with OK or an error. Nothing is sent after it.
  virtual void End(const absl::Status& status) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_CONNECTION_H_
