#include "device_agent/session/server_session.h"

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "core/rpc/retry.h"
#include "core/wire/status_proto.h"
#include "device_agent/session/going_away.h"

namespace slipway {
namespace {

// The call under way, which ends when the session does.
class AttachLoop {
 public:
  void Run(const v1::SessionLease& lease, AgentTransport& transport, SessionEntrance* entrance) {
    std::stop_source none;
    Backoff backoff;
    while (true) {
      AttachCall* call = nullptr;
      {
        absl::MutexLock lock(&mutex_);
        if (is_over_) return;
        call_ = transport.Attach(lease, entrance);
        call = call_.get();
      }
      const absl::Status status = call->Wait();
      {
        absl::MutexLock lock(&mutex_);
        call_ = nullptr;
        if (is_over_) return;
      }
      // A client that went away, or came anew, is no reason to wait.
      if (status.ok() || absl::IsAborted(status)) {
        backoff.Reset();
        continue;
      }
      transport.Pause(backoff.After(status), pause_.get_token());
    }
  }
  void End() {
    pause_.request_stop();
    absl::MutexLock lock(&mutex_);
    is_over_ = true;
    if (call_ != nullptr) call_->Cancel();
  }

 private:
  std::stop_source pause_;
  absl::Mutex mutex_;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<AttachCall> call_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

v1::RunAttemptState RunServerSession(
    const v1::RunAssignment& assignment, const SessionTerms& place, const SessionTools& tools,
    AgentTransport& transport, LeasedSession& leased,
    const std::function<void(const v1::RunAttemptState&)>& observer, std::stop_token stop,
    const std::stop_token& goes_away) {
  v1::RunAttemptState state;
  state.set_attempt_id(assignment.attempt_id());
  const auto fail = [&state](const absl::Status& why) {
    state.set_state(v1::RunAttemptState::FAILED);
    *state.mutable_error() = ToProto(why, "");
    return state;
  };
  const v1::SessionLease& lease = assignment.session();
  if (lease.session().empty() || lease.ticket().empty() || lease.idle_ns() <= 0) {
    return fail(absl::InvalidArgumentError("the session's lease says not what it needs"));
  }
  SessionTerms terms = place;
  terms.session = lease.session();
  terms.ticket = lease.ticket();
  terms.idle = absl::Nanoseconds(lease.idle_ns());
  terms.longest = absl::Nanoseconds(assignment.deadline_ns());

  v1::RunAttemptState running = state;
  running.set_state(v1::RunAttemptState::RUNNING);
  absl::Status end;
  absl::Notification has_ended;
  AttachLoop loop;
  absl::StatusOr<std::shared_ptr<SessionHost>> host = SessionHost::Start(
      std::move(terms), tools,
      [&](const absl::Status& why) {
        end = why;
        // A connection that is being ended has things to send, and ends by itself.
        loop.End();
        has_ended.Notify();
      },
      [&observer, running](absl::Duration silence) mutable {
        const bool is_heard = silence == absl::ZeroDuration();
        running.mutable_progress()->set_stage(is_heard ? "in use" : "without its client");
        running.mutable_progress()->set_silent_ns(absl::ToInt64Nanoseconds(silence));
        observer(running);
      });
  if (!host.ok()) return fail(host.status());
  observer(running);
  leased.Begin(*host);
  {
    const std::stop_callback released(stop, [&] {
      (*host)->Stop(goes_away.stop_requested() ? GoingAway(place.device)
                                               : absl::CancelledError("the lease was released"));
    });
    loop.Run(lease, transport, &leased);
    has_ended.WaitForNotification();
  }
  leased.End();
  if (stop.stop_requested() && !goes_away.stop_requested()) {
    state.set_state(v1::RunAttemptState::STOPPED);
  } else if (end.ok()) {
    state.set_state(v1::RunAttemptState::SUCCEEDED);
    state.mutable_session_result();
  } else {
    return fail(end);
  }
  return state;
}

}  // namespace slipway
