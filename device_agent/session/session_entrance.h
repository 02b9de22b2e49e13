// SessionEntrance: who decides what a new connection is.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_ENTRANCE_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_ENTRANCE_H_

#include <memory>

#include "absl/strings/cord.h"
#include "device_agent/session/session_connection.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// Thread-safe. No method waits.
class SessionEntrance {
 public:
  virtual ~SessionEntrance() = default;
  // A connection with its first request. It is ended, or attached to a host, now or later.
  virtual void Enter(const v1::SessionRequest& first,
                     std::shared_ptr<SessionConnection> connection) = 0;
  // A message of a connection that is not attached yet, and for which the entrance has asked (ReadNext).
  virtual void Sent(const SessionConnection* connection, const absl::Cord& message) = 0;
  // A connection is gone that was not attached.
  virtual void Left(const SessionConnection* connection) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_ENTRANCE_H_
