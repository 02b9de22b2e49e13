// SessionEngine: carries operations out over a session, whatever its connection does.
#ifndef SLIPWAY_CLIENT_SESSION_ENGINE_H_
#define SLIPWAY_CLIENT_SESSION_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/session/operation.h"
#include "core/rpc/caller_proof.h"

namespace slipway {

// What a session is opened or taken up with; see SessionOptions.
struct EngineOptions {
  std::string address;
  CallerProof proof;
  v1::SessionRequest first;     // Holds `open`, or `resume` of a session that was opened elsewhere.
  bool may_go_straight = true;  // See SessionOptions.
  absl::Duration interval;      // Of heartbeats.
  absl::Duration silence;       // After which a peer is asked whether it lives.
  std::stop_token stop;
  std::function<void(int64_t ahead, const std::string& holder)> on_waiting;
  std::function<void(const std::string& text)> on_log;
};

// Thread-safe. The session is closed when the last reference goes.
class SessionEngine {
 public:
  virtual ~SessionEngine() = default;

  // Waits for the device. Errors of SessionService.Open; UNIMPLEMENTED for a device whose sessions cannot be taken up
  // elsewhere.
  static absl::StatusOr<std::shared_ptr<SessionEngine>> Open(EngineOptions options);

  // What the device said when the session was opened, with limits that this client keeps.
  virtual const v1::SessionResponse::Opened& opened() const = 0;
  // Whether the connection is one to the device's agent that it told of, and not one to EngineOptions::address.
  virtual bool is_straight() const = 0;
  // A number that no program or tensor of the session has had.
  virtual uint64_t NewHandle() = 0;

  // `operation` must not hold the engine. With the session ended, it ends in the session's error.
  virtual void Submit(std::shared_ptr<SessionOperation> operation,
                      std::vector<OutgoingRequest> requests) = 0;
  // Nobody waits for it, and it may go out later, with others.
  virtual void Free(uint64_t handle) = 0;
  // Whether the operation is done; at most one waits for an operation at a time.
  virtual bool Wait(SessionOperation& operation, absl::Time deadline) = 0;
  // Calls `callback` once the operation is done, see Future::Then. At most once for an operation.
  virtual void Then(SessionOperation& operation, std::function<void()> callback) = 0;
  virtual void Cancel(SessionOperation& operation) = 0;
  // Leaves the session to be taken up elsewhere when all that was submitted is answered. The error with which it ended
  // before.
  virtual absl::Status Detach() = 0;
  // Ends the session when all that was submitted is answered. The error with which it ended before.
  virtual absl::Status Close() = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_ENGINE_H_
