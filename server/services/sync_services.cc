#include "server/services/sync_services.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "server/names.h"
#include "server/peers/protocol.h"

namespace slipway::server {
namespace {

// What the two kinds of Sync differ in.
struct AgentSync {
  static constexpr Role kRole = Role::kAgent;
  using State = v1::AgentState;
  using Desired = v1::DesiredAgentState;
  static std::string Key(const State& state) { return AgentKey(state.agent_id()); }
  static absl::Status Report(Dispatcher& dispatcher, const State& state,
                             const std::string& address) {
    return dispatcher.AgentReported(state, address);
  }
  static void Began(Dispatcher& dispatcher, const State& state) {
    dispatcher.AgentCallBegan(state);
  }
  static void Ended(Dispatcher& dispatcher, const State& state) {
    dispatcher.AgentCallEnded(state);
  }
};

struct WorkerSync {
  static constexpr Role kRole = Role::kWorker;
  using State = v1::WorkerState;
  using Desired = v1::DesiredWorkerState;
  static std::string Key(const State& state) { return WorkerKey(state.worker_id()); }
  static absl::Status Report(Dispatcher& dispatcher, const State& state,
                             const std::string& address) {
    return dispatcher.WorkerReported(state, address);
  }
  static void Began(Dispatcher& dispatcher, const State& state) {
    dispatcher.WorkerCallBegan(state);
  }
  static void Ended(Dispatcher& dispatcher, const State& state) {
    dispatcher.WorkerCallEnded(state);
  }
};

// One Sync call: takes in the report, and answers when something else is wanted than the caller has, or when
// its time to park is over. Owns itself until gRPC is done with it.
template <typename Kind>
class SyncReactor final : public grpc::ServerUnaryReactor,
                          public std::enable_shared_from_this<SyncReactor<Kind>> {
 public:
  static grpc::ServerUnaryReactor* Start(const Calls& calls, const Parking& parking,
                                         const grpc::CallbackServerContext& context,
                                         const typename Kind::State* state,
                                         typename Kind::Desired* desired) {
    std::shared_ptr<SyncReactor> reactor(
        new SyncReactor(calls, parking, context.peer(), *state, desired));
    reactor->self_ = reactor;
    absl::Status status = calls.Admit(context, Kind::kRole).status();
    if (status.ok() && !calls.pool().TryPost([reactor] { reactor->Begin(); })) {
      status = Calls::Overloaded();
    }
    if (!status.ok()) reactor->End(status);
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
    if (has_begun_) Kind::Ended(*parking_.dispatcher, state_);
  }

 private:
  SyncReactor(const Calls& calls, const Parking& parking, std::string address,
              const typename Kind::State& state, typename Kind::Desired* desired)
      : pool_(calls.pool()),
        parking_(parking),
        address_(std::move(address)),
        state_(state),
        desired_(desired) {}

  void Begin() {
    const absl::Status status = Kind::Report(*parking_.dispatcher, state_, address_);
    if (!status.ok()) return End(status);
    Kind::Began(*parking_.dispatcher, state_);
    std::weak_ptr<SyncReactor> weak = this->weak_from_this();
    const auto look = [weak] {
      if (std::shared_ptr<SyncReactor> live = weak.lock()) live->LookLater();
    };
    const absl::Duration park = ParkTime(state_.park_ns(), SystemRandom());
    {
      absl::MutexLock lock(&mu_);
      has_begun_ = true;
      if (park > absl::ZeroDuration()) {
        subscription_ = parking_.hub->Subscribe(Kind::Key(state_), look);
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
    absl::StatusOr<typename Kind::Desired> desired = parking_.dispatcher->DesiredOf(state_);
    if (!desired.ok()) return EndLocked(desired.status());
    if (desired->version() == state_.applied_version() && !is_over_) return;
    *desired_ = *std::move(desired);
    EndLocked(absl::OkStatus());
  }

  void End(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    EndLocked(status);
  }
  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    has_ended_ = true;
    this->Finish(ToGrpc(status));
  }

  WorkPool& pool_;
  const Parking parking_;
  const std::string address_;
  const typename Kind::State& state_;  // gRPC keeps request and response until OnDone.
  typename Kind::Desired* const desired_;
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
  return SyncReactor<AgentSync>::Start(calls_, parking_, *context, request, response);
}

grpc::ServerUnaryReactor* WorkerGrpcService::Sync(grpc::CallbackServerContext* context,
                                                  const v1::WorkerState* request,
                                                  v1::DesiredWorkerState* response) {
  return SyncReactor<WorkerSync>::Start(calls_, parking_, *context, request, response);
}

}  // namespace slipway::server
