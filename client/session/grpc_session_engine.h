// GrpcSessionEngine: the engine over gRPC's asynchronous calls.
//
// A session has one completion queue, and whoever waits for an answer takes the events out of it ("pumps"): between
// gRPC and the caller no thread is woken. One pumps at a time; the role is handed on. The engine's own thread pumps
// while nobody else does and something is to be done: requests that could not be sent at once, callbacks, a
// connection that broke, a heartbeat that is due. Callbacks run on that thread alone.
//
// A session that a server opened goes on straight to the device's agent, when that told where it listens: the agent is
// asked for a sign of life, and when it gives one the connection is left and taken up again there, as if it had broken.
//
// A connection that breaks is taken up again. Nothing having come for EngineOptions::silence, whatever the connection
// does, the server is asked whether it lives, and the session ends with an error that says who went away; but where the
// server answers, the session is taken up over that connection before, since the other may lead nowhere any more.
#ifndef SLIPWAY_CLIENT_SESSION_GRPC_SESSION_ENGINE_H_
#define SLIPWAY_CLIENT_SESSION_GRPC_SESSION_ENGINE_H_

#include <grpcpp/channel.h>

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "client/session/engine.h"
#include "client/session/grpc_route.h"
#include "client/session/grpc_session_stream.h"
#include "client/session/liveness.h"
#include "client/session/request_line.h"
#include "core/base/clock.h"
#include "core/base/log_lines.h"
#include "core/rpc/retry.h"

namespace slipway {

class GrpcSessionEngine final : public SessionEngine {
 public:
  explicit GrpcSessionEngine(EngineOptions options);
  ~GrpcSessionEngine() override;

  // The engine's own thread, until ShutDown.
  void Run();
  absl::Status AwaitOpened();
  // Closes the session without waiting for long.
  void ShutDown();

  const v1::SessionResponse::Opened& opened() const override { return opened_; }
  uint64_t NewHandle() override;
  void Submit(std::shared_ptr<SessionOperation> operation,
              std::vector<OutgoingRequest> requests) override;
  void Free(uint64_t handle) override;
  bool is_straight() const override;
  bool Wait(SessionOperation& operation, absl::Time deadline) override;
  void Then(SessionOperation& operation, std::function<void()> callback) override;
  void Cancel(SessionOperation& operation) override;
  absl::Status Detach() override;
  absl::Status Close() override;

 private:
  // Waiting.
  bool WaitFor(absl::FunctionRef<bool()> done, absl::CondVar& woken, absl::Duration until)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Pump(absl::Duration until) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HandOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsBusy() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration Due() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration Now() const { return clock_.Monotonic(); }

  // Events.
  void Handle(GrpcSessionEvent event, bool ok) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepTime(absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Connect(bool wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Disconnected() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Received(const absl::Cord& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answered(RequestAnswer answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeNews(v1::SessionResponse& news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeOpened(v1::SessionResponse::Opened& opened) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Ask() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Asked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Probe(const std::string& address) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Probed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<GrpcRoute> ToServer() const;
  std::unique_ptr<GrpcRoute> ToAgent(const std::string& address) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsStraight() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Go(std::unique_ptr<GrpcRoute> route) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // What follows from them.
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Settle(SessionOperation& operation, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool GoOn(SessionOperation& operation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveUp(const SessionOperation& operation, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CallBack(std::function<void()> callback) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(absl::Status status, absl::Duration linger = absl::ZeroDuration())
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Another's until it is taken up.
  bool IsOwn() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_open_ || !is_from_elsewhere_;
  }
  std::string DeviceName() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const EngineOptions options_;
  const SystemClock clock_;
  grpc::CompletionQueue queue_;

  mutable absl::Mutex mutex_;
  // Who pumps, and who waits to.
  bool pumping_ ABSL_GUARDED_BY(mutex_) = false;
  std::list<absl::CondVar*> waiters_ ABSL_GUARDED_BY(mutex_);
  absl::CondVar own_thread_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> callbacks_ ABSL_GUARDED_BY(mutex_);
  size_t promised_callbacks_ ABSL_GUARDED_BY(mutex_) = 0;
  LogLines log_{1 << 20};  // What on_log is to be told.

  // The connection.
  std::unique_ptr<GrpcRoute> route_ ABSL_GUARDED_BY(mutex_);
  bool is_leaving_ ABSL_GUARDED_BY(mutex_) = false;  // The stream was ended for another route.
  bool may_go_straight_ ABSL_GUARDED_BY(mutex_);
  // The agent's, once the session went there.
  std::string straight_address_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<GrpcQuestion> probe_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<GrpcSessionStream> stream_ ABSL_GUARDED_BY(mutex_);
  bool is_connected_ ABSL_GUARDED_BY(mutex_) = false;  // `opened` has come over it.
  absl::Duration connect_at_ ABSL_GUARDED_BY(mutex_);  // Without a stream.
  Backoff backoff_ ABSL_GUARDED_BY(mutex_);
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);
  Liveness liveness_ ABSL_GUARDED_BY(mutex_);
  bool has_come_ ABSL_GUARDED_BY(mutex_) = false;  // Something, over the connection.
  // Then the session ends for who is to blame, if nothing has come.
  absl::Duration give_up_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  std::string blame_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<GrpcQuestion> question_ ABSL_GUARDED_BY(mutex_);
  // It was taken up over the connection of a question, and nothing asked for was answered since.
  bool is_last_try_ ABSL_GUARDED_BY(mutex_) = false;

  // The session.
  RequestLine line_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_handle_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string session_ ABSL_GUARDED_BY(mutex_);  // Empty until the device has told of it.
  std::string ticket_ ABSL_GUARDED_BY(mutex_);
  const bool is_from_elsewhere_;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  v1::SessionResponse::Opened opened_;                  // Set once, when is_open_ becomes true.
  bool takes_no_more_ ABSL_GUARDED_BY(mutex_) = false;  // It is being closed, or left.
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);          // Not OK: the session has ended.
  absl::Duration cancel_at_ ABSL_GUARDED_BY(mutex_);  // Then, its connection too.
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_GRPC_SESSION_ENGINE_H_
