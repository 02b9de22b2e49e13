#include "server/services/probe_services.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/handlers/health.h"
#include "server/services/reflection.h"

namespace slipway::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

constexpr absl::Duration kLookEvery = absl::Seconds(1);

// One Watch of health: looks every now and then, and writes what is new. Owns itself until gRPC is done with it.
class HealthWatch final : public grpc::ServerWriteReactor<HealthCheckResponse>,
                          public std::enable_shared_from_this<HealthWatch> {
 public:
  static grpc::ServerWriteReactor<HealthCheckResponse>* Start(
      const Calls& calls, const Environment& env, const ChangeHub& hub, TimerQueue& timers,
      const grpc::CallbackServerContext& context, const HealthCheckRequest& request) {
    std::shared_ptr<HealthWatch> watch(
        new HealthWatch(calls.pool(), env, hub, timers, request.service()));
    watch->self_ = watch;
    const absl::StatusOr<Caller> caller = calls.Admit(context, Rpc::kWatchHealth);
    if (caller.ok()) {
      watch->LookLater();
    } else {
      absl::MutexLock lock(&watch->mu_);
      watch->End(caller.status());
    }
    return watch.get();
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mu_);
      is_writing_ = false;
      is_cancelled_ = is_cancelled_ || !ok;
    }
    LookLater();
  }
  void OnCancel() override {
    {
      absl::MutexLock lock(&mu_);
      is_cancelled_ = true;
    }
    LookLater();
  }
  void OnDone() override {
    const std::shared_ptr<HealthWatch> last = std::move(self_);
    absl::MutexLock lock(&mu_);
    if (timer_ != 0) timers_.Cancel(timer_);
  }

 private:
  HealthWatch(WorkPool& pool, const Environment& env, const ChangeHub& hub, TimerQueue& timers,
              std::string service)
      : pool_(pool), env_(env), hub_(hub), timers_(timers), service_(std::move(service)) {}

  void LookLater() {
    pool_.Post([self = shared_from_this()] {
      absl::MutexLock lock(&self->mu_);
      self->Look();
    });
  }

  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (has_ended_ || is_writing_) return;
    if (is_cancelled_) return End(absl::CancelledError("the watcher went away"));
    if (hub_.is_closed()) return End(Calls::Ending());
    const HealthCheckResponse::ServingStatus now = HealthOf(env_, service_);
    if (now != response_.status()) {
      response_.set_status(now);
      is_writing_ = true;
      return StartWrite(&response_);
    }
    if (timer_ != 0) timers_.Cancel(timer_);
    timer_ = timers_.After(kLookEvery, [weak = weak_from_this()] {
      if (const std::shared_ptr<HealthWatch> live = weak.lock()) live->LookLater();
    });
  }

  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    has_ended_ = true;
    Finish(ToGrpc(status));
  }

  WorkPool& pool_;
  const Environment& env_;
  const ChangeHub& hub_;
  TimerQueue& timers_;
  const std::string service_;
  std::shared_ptr<HealthWatch> self_;

  absl::Mutex mu_;
  HealthCheckResponse
      response_;  // UNKNOWN, which is never sent, before the first. Not touched while it is written.
  TimerQueue::Id timer_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;
};

// One stream of reflection: reads a request, writes its answer, reads the next.
class ReflectionStream final
    : public grpc::ServerBidiReactor<ServerReflectionRequest, ServerReflectionResponse> {
 public:
  ReflectionStream(const Calls& calls, const grpc::CallbackServerContext& context) {
    const absl::StatusOr<Caller> caller = calls.Admit(context, Rpc::kReflect);
    if (caller.ok()) {
      StartRead(&request_);
    } else {
      Finish(ToGrpc(caller.status()));
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    response_ = Reflect(request_);
    StartWrite(&response_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(ToGrpc(absl::CancelledError("who asked went away")));
    StartRead(&request_);
  }
  void OnDone() override { delete this; }

 private:
  ServerReflectionRequest request_;
  ServerReflectionResponse response_;
};

}  // namespace

grpc::ServerUnaryReactor* HealthGrpcService::Check(grpc::CallbackServerContext* context,
                                                   const HealthCheckRequest* request,
                                                   HealthCheckResponse* response) {
  return calls_.Unary(context, Rpc::kCheckHealth,
                      [this, request, response](const Caller&) -> absl::Status {
                        response->set_status(HealthOf(env_, request->service()));
                        if (response->status() != HealthCheckResponse::SERVICE_UNKNOWN)
                          return absl::OkStatus();
                        return absl::NotFoundError(
                            "there is no such service; an empty name is the server as a whole");
                      });
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthGrpcService::Watch(
    grpc::CallbackServerContext* context, const HealthCheckRequest* request) {
  return HealthWatch::Start(calls_, env_, hub_, timers_, *context, *request);
}

grpc::ServerBidiReactor<ServerReflectionRequest, ServerReflectionResponse>*
ReflectionGrpcService::ServerReflectionInfo(grpc::CallbackServerContext* context) {
  return new ReflectionStream(calls_, *context);
}

}  // namespace slipway::server
