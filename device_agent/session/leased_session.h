// LeasedSession: lets connections in to the session that a server has given the device to, however they come.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_LEASED_SESSION_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_LEASED_SESSION_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "device_agent/session/session_entrance.h"
#include "device_agent/session/session_host.h"

namespace slipway {

// The server's lease is the ticket: who resumes the session and shows its ticket is let in; nobody opens one here.
// Thread-safe.
class LeasedSession final : public SessionEntrance {
 public:
  void Begin(std::shared_ptr<SessionHost> host);
  void End();

  void Enter(const v1::SessionRequest& first,
             std::shared_ptr<SessionConnection> connection) override;
  void Sent(const SessionConnection*, const absl::Cord&) override {}  // Nobody waits.
  void Left(const SessionConnection*) override {}

 private:
  absl::Mutex mutex_;
  std::shared_ptr<SessionHost> host_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_LEASED_SESSION_H_
