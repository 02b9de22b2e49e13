#include "device_agent/grpc_agent_transport.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_blob_client.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/grpc_duplex.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/proof_files.h"
#include "device_agent/session/grpc_session_connection.h"
#include "proto/slipway/v1/agent.grpc.pb.h"

namespace slipway {
namespace {

// What a session that has ended still has to say is waited for so long.
constexpr absl::Duration kLastWords = absl::Seconds(1);

// A connection to the server.
struct Line {
  Line(const std::string& server, const CallerProof& proof, const Pings& pings)
      : calls(server, proof, nullptr, pings),
        agents(v1::AgentService::NewStub(calls.channel())),
        blobs(calls) {}

  Calls calls;
  const std::unique_ptr<v1::AgentService::StubInterface> agents;
  BlobClient blobs;
};

class GrpcSyncCall final : public SyncCall {
 public:
  // `on_break` is called when the connection broke, or never came about.
  GrpcSyncCall(std::shared_ptr<Line> line, std::function<void()> on_break)
      : line_(std::move(line)), on_break_(std::move(on_break)) {}

  absl::StatusOr<v1::DesiredAgentState> Run(const v1::AgentState& state,
                                            absl::Duration deadline) override {
    v1::DesiredAgentState desired;
    const absl::Status status = line_->calls.Once(
        deadline, {.stop = cancel_.get_token()}, [&](grpc::ClientContext& context) {
          return line_->agents->Sync(&context, state, &desired);
        });
    if (absl::IsUnavailable(status)) on_break_();
    SLIPWAY_RETURN_IF_ERROR(status);
    return desired;
  }
  void Cancel() override { cancel_.request_stop(); }

 private:
  const std::shared_ptr<Line> line_;
  const std::function<void()> on_break_;
  std::stop_source cancel_;
};

class GrpcAttachCall final : public AttachCall {
 public:
  GrpcAttachCall(Calls& calls, const v1::SessionLease& lease, SessionEntrance* entrance)
      : connection_(std::make_shared<GrpcSessionConnection>(
            entrance, [state = state_](const absl::Status& status) {
              absl::MutexLock lock(&state->mutex);
              state->end = status;
            })) {
    std::unique_ptr<grpc::ClientContext> context = calls.NewContext();
    context->AddMetadata("session-id", lease.session());
    context->AddMetadata("session-ticket", lease.ticket());
    connection_->Begin(CallDuplex(connection_, calls.channel(), "/slipway.v1.AgentService/Attach",
                                  std::move(context)));
  }
  ~GrpcAttachCall() override {
    Cancel();
    Wait().IgnoreError();
  }

  absl::Status Wait() override {
    State& state = *state_;
    const auto ends = [&state]() ABSL_SHARED_LOCKS_REQUIRED(state.mutex) {
      return state.end.has_value() || state.is_cancelled;
    };
    const auto has_ended = [&state]() ABSL_SHARED_LOCKS_REQUIRED(state.mutex) {
      return state.end.has_value();
    };
    absl::MutexLock lock(&state.mutex);
    state.mutex.Await(absl::Condition(&ends));
    if (!state.mutex.AwaitWithTimeout(absl::Condition(&has_ended), kLastWords)) {
      state.mutex.Unlock();
      connection_->Break();
      state.mutex.Lock();
      state.mutex.Await(absl::Condition(&has_ended));
    }
    return *state.end;
  }
  void Cancel() override {
    connection_->End(absl::CancelledError("the session has ended"));
    absl::MutexLock lock(&state_->mutex);
    state_->is_cancelled = true;
  }

 private:
  struct State {
    absl::Mutex mutex;
    bool is_cancelled ABSL_GUARDED_BY(mutex) = false;
    std::optional<absl::Status> end ABSL_GUARDED_BY(mutex);
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  const std::shared_ptr<GrpcSessionConnection> connection_;
};

class GrpcAgentTransport final : public AgentTransport {
 public:
  GrpcAgentTransport(std::string server, CallerProof proof)
      : server_(std::move(server)),
        proof_(std::move(proof)),
        files_(proof_),
        busy_(std::make_shared<Line>(server_, proof_, kBusyPings)),
        idle_(std::make_shared<Line>(server_, proof_, kPings)),
        last_(idle_) {}

  std::unique_ptr<SyncCall> NewSync(bool is_at_stake) override {
    absl::MutexLock lock(&mutex_);
    // What is under way over the line from before goes on there.
    if (files_.HaveChanged()) {
      busy_ = std::make_shared<Line>(server_, proof_, kBusyPings);
      is_idle_suspect_ = true;
    }
    if (is_at_stake) {
      last_ = busy_;
      return std::make_unique<GrpcSyncCall>(busy_, [this] { Suspect(); });
    }
    if (is_idle_suspect_) idle_ = std::make_shared<Line>(server_, proof_, kPings);
    is_idle_suspect_ = false;
    last_ = idle_;
    return std::make_unique<GrpcSyncCall>(idle_, [] {});
  }
  std::unique_ptr<AttachCall> Attach(const v1::SessionLease& lease,
                                     SessionEntrance* entrance) override {
    return std::make_unique<GrpcAttachCall>(Busy()->calls, lease, entrance);
  }
  void StayAway(absl::Duration time, std::stop_token stop) override {
    absl::Notification is_asked;
    const std::stop_callback ask(stop, [&] { is_asked.Notify(); });
    is_asked.WaitForNotificationWithTimeout(time);
  }
  void Pause(absl::Duration pause, std::stop_token stop) override {
    std::shared_ptr<Line> last;
    {
      absl::MutexLock lock(&mutex_);
      last = last_;
    }
    last->calls.Pause(pause, std::move(stop));
  }
  absl::StatusOr<v1::SignedStatement> Vouch(const v1::VouchRequest& request,
                                            const RetryPolicy& policy) override {
    v1::SignedStatement statement;
    const std::shared_ptr<Line> line = Busy();
    SLIPWAY_RETURN_IF_ERROR(
        line->calls.Make(kCallDeadline, policy, [&](grpc::ClientContext& context) {
          return line->agents->Vouch(&context, request, &statement);
        }));
    return statement;
  }
  absl::Status FetchBlob(const Digest& digest, BlobStore& store,
                         const RetryPolicy& policy) override {
    return Busy()->blobs.Fetch(digest, store, policy);
  }
  absl::Status SendBlob(const Digest& digest, BlobStore& store,
                        const RetryPolicy& policy) override {
    const auto source = [&store](const Digest& wanted) { return store.Get(wanted); };
    return Busy()->blobs.Send({digest}, source, policy);
  }

 private:
  std::shared_ptr<Line> Busy() {
    absl::MutexLock lock(&mutex_);
    return busy_;
  }

  // What broke the one may have silenced the other, which would notice later.
  void Suspect() {
    absl::MutexLock lock(&mutex_);
    is_idle_suspect_ = true;
  }

  const std::string server_;
  const CallerProof proof_;
  absl::Mutex mutex_;
  ProofFiles files_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Line> busy_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Line> idle_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Line> last_ ABSL_GUARDED_BY(mutex_);  // Of the last call of Sync.
  bool is_idle_suspect_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<AgentTransport> MakeGrpcAgentTransport(const std::string& server,
                                                       const CallerProof& proof) {
  return std::make_unique<GrpcAgentTransport>(server, proof);
}

}  // namespace slipway
