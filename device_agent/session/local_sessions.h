// LocalSessions: the sessions of an agent that works for no server: one at a time, others wait in line.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_LOCAL_SESSIONS_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_LOCAL_SESSIONS_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/awake_clock.h"
#include "core/selector/device_attributes.h"
#include "core/wire/session_wish.h"
#include "device_agent/session/session_entrance.h"
#include "device_agent/session/session_host.h"
#include "device_agent/session/session_terms.h"

namespace slipway {

// Thread-safe. Who waits and loses its connection keeps its place for its idle time, though others get the device first.
class LocalSessions final : public SessionEntrance {
 public:
  struct Options {
    std::string device;
    std::string target;  // Its canonical target.
    SessionTools tools;
    // What selectors know of it now; called by any thread.
    std::function<DeviceAttributes()> attributes;
  };
  explicit LocalSessions(Options options);
  // Ends.
  ~LocalSessions() override;

  // Tells the session's client and all that wait that the agent goes away; nobody is let in any more.
  void End();

  void Enter(const v1::SessionRequest& first,
             std::shared_ptr<SessionConnection> connection) override;
  void Sent(const SessionConnection* connection, const absl::Cord& message) override;
  void Left(const SessionConnection* connection) override;

 private:
  struct Waiting {
    std::shared_ptr<SessionConnection> connection;  // Null while its client is not there.
    absl::Duration left_at;                         // Then, of awake_.
    absl::Cord early;  // What it asks for already; then it is not read.
    SessionWish wish;
    std::string session;
    std::string ticket;
    absl::Duration until;  // Monotonic.
  };

  absl::Duration Now() const { return options_.tools.clock->Monotonic(); }
  absl::Status Check(const SessionWish& wish) const;
  void Open(const v1::SessionRequest::Open& open, std::shared_ptr<SessionConnection> connection)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Resume(const v1::SessionRequest::Resume& resume,
              const std::shared_ptr<SessionConnection>& connection)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::deque<Waiting>::iterator Find(const SessionConnection* connection)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives the device to the next who is there, if it is free.
  void StartNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const Waiting& waiting, int64_t ahead) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Tells those who wait that they still do, and ends those who have waited, or were not there, for long enough.
  void Tick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Watch();
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return has_ended_ || (ends_ && host_ == nullptr);
  }

  const Options options_;
  const absl::Status going_away_;
  const AwakeClock awake_;
  absl::Mutex mutex_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;  // The host has, and is to be let go.
  std::shared_ptr<SessionHost> host_ ABSL_GUARDED_BY(mutex_);
  std::string purpose_ ABSL_GUARDED_BY(mutex_);  // Of the host's session.
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::thread watcher_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_LOCAL_SESSIONS_H_
