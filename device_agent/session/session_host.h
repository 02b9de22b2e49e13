// SessionHost: a session on its device: takes its client's requests, has a runner carry them out, and answers.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_HOST_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_HOST_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/artifact/program_steps.h"
#include "core/base/awake_clock.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/machine_lock.h"
#include "device_agent/kept_peaks.h"
#include "device_agent/runner/runner_process.h"
#include "device_agent/session/held_handles.h"
#include "device_agent/session/session_blobs.h"
#include "device_agent/session/session_connection.h"
#include "device_agent/session/session_log.h"
#include "device_agent/session/session_terms.h"
#include "device_agent/session/under_way.h"
#include "device_agent/session/window_pieces.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// Not owned, thread-safe.
struct SessionTools {
  // Starts the runner that the session begins with, and those after one that died.
  std::function<absl::StatusOr<std::unique_ptr<RunnerProcess>>()> start_runner;
  SessionBlobs::Tools blobs;
  // Memory a program may hold: of scratch, and in dynamic buffers where a load does not say.
  int64_t memory_bytes = 0;
  const Clock* clock = nullptr;
  const KeptPeaks* peaks = nullptr;  // Null: they are not known.
  // The runner is on another machine: what this one compiles meanwhile does not disturb it.
  bool is_attached = false;
};

// Requests are carried out one at a time in their order and answered in it; responses are kept until the client says
// that they have come. A request that needs nothing but the runner goes there on the thread that brings it; one thread
// of the host does the rest. The session ends when its client closes it, was not heard for its idle time, breaks the
// protocol, or when it is told to; then the runner is killed and `ended` called, on the host's thread.
//
// Thread-safe. Made with Start; destroyed not by the thread that calls `ended`.
class SessionHost : public std::enable_shared_from_this<SessionHost> {
 public:
  using Ended = std::function<void(const absl::Status&)>;
  // Called on the host's thread: nothing was heard of the client for this long, over the terms' silence; zero: it is heard
  // again.
  using Silent = std::function<void(absl::Duration)>;
  static absl::StatusOr<std::shared_ptr<SessionHost>> Start(SessionTerms terms, SessionTools tools,
                                                            Ended ended, Silent silent = nullptr);
  ~SessionHost();
  SessionHost(const SessionHost&) = delete;
  SessionHost& operator=(const SessionHost&) = delete;

  const SessionTerms& terms() const { return terms_; }

  // Attaches a connection that shows the session's ticket; another ends with PERMISSION_DENIED.
  void Resume(const v1::SessionRequest::Resume& resume,
              std::shared_ptr<SessionConnection> connection);
  // Takes the place of the connection before, which ends with ABORTED. Responses after `received` are sent again. The
  // connection may have been asked for its next message already.
  void Attach(std::shared_ptr<SessionConnection> connection, uint64_t received,
              bool is_read = false);
  // A message of a connection; ignored when that is not the current one any more.
  void Take(const SessionConnection* connection, const absl::Cord& message);
  // The connection is gone.
  void Detach(const SessionConnection* connection);

  // Ends the session; its connection gets `why`.
  void Stop(const absl::Status& why);

 private:
  struct Pending {
    enum class State { kWaiting, kSent, kDone };
    v1::SessionRequest request;
    absl::Cord data;
    absl::Duration deadline;  // Monotonic.
    State state = State::kWaiting;
    bool is_cancelled = false;
    bool is_prepared = false;  // What a load needs is there.
    std::string manifest;      // Of a load that is prepared.
    std::vector<StepInfo> steps;
    std::optional<MachineLock> alone;  // While calls are timed.
    std::optional<int> piece;
    // When done.
    v1::SessionResponse response;
    absl::Cord response_data;
  };
  struct Unacked {
    uint64_t id;
    absl::Cord message;
    bool has_data;
  };

  SessionHost(SessionTerms terms, SessionTools tools, Ended ended, Silent silent, UniqueFd wake);

  // --- The host's thread. ---
  void Work();
  // Waits for the runner, for what needs this thread, or until `until`; true when the runner has something to say.
  bool Wait(int runner_socket, absl::Duration until);
  void StartRunner();
  // The first request that waits, if it needs more than the runner.
  void Prepare();
  // Does what may wait for others, while a thread looks at the runner and the times in this one's place.
  void WhileOthersAreServed(absl::FunctionRef<void()> wait);
  void TakeResponses();
  void CheckTimes();
  void TellSilence();
  absl::Duration NextCheck() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration Now() const { return tools_.clock->Monotonic(); }
  // The runner died, or is killed here for `why`.
  void LoseRunner(absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string Whereabouts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // --- Any thread. ---
  void TakeRequest(v1::SessionRequest& request, absl::Cord data)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cancel(uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends to the runner what can be; true when the next one needs the host's thread.
  bool SendWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool SendOne(Pending& pending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Done(Pending& pending, absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Answers what is done, in order, behind what was written to the log before.
  void Answer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendNews(const v1::SessionResponse& news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendLog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Acked(uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Heard() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void EndConnection(SessionConnection& connection, const absl::Status& why);
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Wake() const { WakeBy(*wake_); }
  static void WakeBy(const UniqueFd& wake);

  const SessionTerms terms_;
  const SessionTools tools_;
  const Ended ended_;
  const Silent silent_;
  const std::shared_ptr<const UniqueFd> wake_;  // An eventfd.
  const absl::Duration begun_at_;
  // By which the client's silence is judged.
  const AwakeClock awake_;
  SessionBlobs blobs_;  // Of the host's thread.

  absl::Mutex mutex_;
  std::shared_ptr<SessionConnection> connection_ ABSL_GUARDED_BY(mutex_);
  UnderWay heartbeat_ ABSL_GUARDED_BY(mutex_);
  const std::shared_ptr<SessionLog> log_;
  bool reads_ ABSL_GUARDED_BY(mutex_) = false;  // The connection was asked for the next message.
  absl::Duration heard_at_ ABSL_GUARDED_BY(mutex_);  // Of awake_.
  bool silence_is_told_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;  // The last request.
  // The host's thread waits until then at most.
  absl::Duration waits_until_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  bool closes_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  std::deque<Pending> pending_ ABSL_GUARDED_BY(mutex_);
  int64_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t handled_ ABSL_GUARDED_BY(mutex_) = 0;  // Of pending_, those before it are sent or done.
  std::deque<Unacked> unacked_ ABSL_GUARDED_BY(mutex_);
  int64_t unacked_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<RunnerProcess> runner_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<WindowPieces> pieces_ ABSL_GUARDED_BY(mutex_);
  HeldHandles handles_ ABSL_GUARDED_BY(mutex_);
  absl::Duration looked_at_runner_ ABSL_GUARDED_BY(mutex_);
  bool was_stopped_ ABSL_GUARDED_BY(mutex_) = false;  // By a signal, when it was looked at last.
  // The request that is being prepared, which may take as long as others like; 0: none.
  uint64_t prepares_ ABSL_GUARDED_BY(mutex_) = 0;
  std::stop_source stop_preparing_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_HOST_H_
