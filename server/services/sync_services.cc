#include "server/services/sync_services.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "server/handlers/sessions.h"
#include "server/names.h"
#include "server/peers/protocol.h"
#include "server/peers/report.h"
#include "server/peers/sync_messages.h"

namespace slipway::server {
namespace {

// One Sync call: takes in the report, and answers when something else is wanted than the caller has, or when
// its time to park is over. Owns itself until gRPC is done with it.
template <typename State, typename Desired>
class SyncReactor final : public grpc::ServerUnaryReactor,
                          public std::enable_shared_from_this<SyncReactor<State, Desired>> {
 public:
  static grpc::ServerUnaryReactor* Start(const Calls& calls, const Parking& parking,
                                         const grpc::CallbackServerContext& context, Rpc rpc,
                                         const State* state, Desired* desired) {
    std::shared_ptr<SyncReactor> reactor(new SyncReactor(calls, parking, rpc, *state, desired));
    reactor->self_ = reactor;
    absl::StatusOr<Caller> caller = calls.Admit(context, rpc);
    if (!caller.ok()) {
      reactor->EndUncounted(caller.status());
      return reactor.get();
    }
    reactor->caller_ = *std::move(caller);
    if (!calls.pool().TryPost([reactor] { reactor->Begin(); })) reactor->End(Calls::Overloaded());
    return reactor.get();
  }

  void OnCancel() override {
    is_cancelled_ = true;
    LookLater();
  }

  void OnDone() override {
    std::shared_ptr<SyncReactor> last = std::move(self_);
    absl::MutexLock lock(&mu_);
    subscription_.reset();
    if (timer_ != 0) parking_.timers->Cancel(timer_);
    if (has_begun_) parking_.dispatcher->CallEnded(call_);
  }

 private:
  SyncReactor(const Calls& calls, const Parking& parking, Rpc rpc, const State& state,
              Desired* desired)
      : pool_(calls.pool()),
        audit_(calls.audit()),
        counts_(calls.counts()),
        parking_(parking),
        rpc_(rpc),
        state_(state),
        desired_(desired) {}

  void Begin() {
    absl::StatusOr<Report> report = ReadReport(state_, caller_.address);
    if (!report.ok()) return End(report.status());
    call_ = report->call;
    absl::Status status = CheckPeer(caller_, call_.peer, *parking_.identities);
    // Workers have no device, agents one.
    const std::string& device = report->description.id();
    if (status.ok() && !device.empty()) {
      status = CheckDevice(caller_, device, *parking_.identities);
    }
    bool is_new = false;
    if (status.ok()) status = parking_.dispatcher->Reported(*std::move(report), &is_new);
    // Of those that go on as before, only who may not.
    if (is_new) {
      audit_.Tell(caller_, rpc_, status, std::string(IdOfKey(call_.peer)));
    } else {
      audit_.TellRefusal(caller_, rpc_, status, std::string(IdOfKey(call_.peer)));
    }
    counts_.Took(rpc_, SystemClock().Monotonic() - came_);
    if (!status.ok()) return End(status);
    parking_.dispatcher->CallBegan(call_);
    std::weak_ptr<SyncReactor> weak = this->weak_from_this();
    const auto look = [weak] {
      if (std::shared_ptr<SyncReactor> live = weak.lock()) live->LookLater();
    };
    const absl::Duration park = ParkTime(state_.park_ns(), SystemRandom());
    {
      absl::MutexLock lock(&mu_);
      has_begun_ = true;
      if (park > absl::ZeroDuration()) {
        subscription_ = parking_.hub->Subscribe(call_.peer, look);
        timer_ = parking_.timers->After(park, [weak, look] {
          if (std::shared_ptr<SyncReactor> live = weak.lock()) live->is_over_ = true;
          look();
        });
      } else {
        is_over_ = true;
      }
    }
    Look();
  }

  void LookLater() {
    pool_.Post([self = this->shared_from_this()] { self->Look(); });
  }

  void Look() {
    absl::MutexLock lock(&mu_);
    // A call that is cancelled before it begins is answered by Begin, which comes.
    if (has_ended_ || !has_begun_) return;
    if (is_cancelled_) return EndLocked(absl::CancelledError("the caller gave up"));
    if (parking_.hub->is_closed()) return EndLocked(Calls::Ending());
    const absl::StatusOr<DesiredState> desired = parking_.dispatcher->DesiredOf(call_);
    if (!desired.ok()) return EndLocked(desired.status());
    if (desired->version == state_.applied_version() && !is_over_) return;
    WriteDesired(*desired, desired_);
    EndLocked(absl::OkStatus());
  }

  void End(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    EndLocked(status);
  }
  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    has_ended_ = true;
    counts_.Ended(rpc_, status.code());
    this->Finish(ToGrpc(status));
  }
  // Who is not let in is counted by who says so.
  void EndUncounted(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    has_ended_ = true;
    this->Finish(ToGrpc(status));
  }

  WorkPool& pool_;
  const CallAudit audit_;
  CallCounts& counts_;
  const absl::Duration came_ = SystemClock().Monotonic();
  const Parking parking_;
  const Rpc rpc_;
  Caller caller_;
  const State& state_;  // gRPC keeps request and response until OnDone.
  Desired* const desired_;
  PeerCall call_;  // Set when it has begun.
  std::shared_ptr<SyncReactor> self_;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_cancelled_ = false;

  absl::Mutex mu_;
  ChangeHub::Subscription subscription_ ABSL_GUARDED_BY(mu_);
  TimerQueue::Id timer_ ABSL_GUARDED_BY(mu_) = 0;
  bool has_begun_ ABSL_GUARDED_BY(mu_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

grpc::ServerUnaryReactor* AgentGrpcService::Sync(grpc::CallbackServerContext* context,
                                                 const v1::AgentState* request,
                                                 v1::DesiredAgentState* response) {
  return SyncReactor<v1::AgentState, v1::DesiredAgentState>::Start(
      calls_, parking_, *context, Rpc::kSyncAgent, request, response);
}

grpc::ServerUnaryReactor* AgentGrpcService::Vouch(grpc::CallbackServerContext* context,
                                                  const v1::VouchRequest* request,
                                                  v1::SignedStatement* response) {
  return calls_.Unary(
      context, Rpc::kVouch, [this, request, response](const Caller& caller) -> absl::Status {
        SLIPWAY_ASSIGN_OR_RETURN(
            const JobRecord session,
            FindSessionOfDevice(caller, env_, request->session(), request->ticket()));
        return VouchInSession(env_, session.job(), *request, response);
      });
}

grpc::ServerUnaryReactor* WorkerGrpcService::Sync(grpc::CallbackServerContext* context,
                                                  const v1::WorkerState* request,
                                                  v1::DesiredWorkerState* response) {
  return SyncReactor<v1::WorkerState, v1::DesiredWorkerState>::Start(
      calls_, parking_, *context, Rpc::kSyncWorker, request, response);
}

}  // namespace slipway::server
