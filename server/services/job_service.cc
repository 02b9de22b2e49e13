#include "server/services/job_service.h"

#include <atomic>
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "server/handlers/jobs.h"
#include "server/jobs/job_state.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// One WatchJob call: after every change it looks at the job, and writes it if it is new. Owns itself until
// gRPC is done with it.
class WatchReactor final : public grpc::ServerWriteReactor<v1::Job>,
                           public std::enable_shared_from_this<WatchReactor> {
 public:
  static grpc::ServerWriteReactor<v1::Job>* Start(const Calls& calls, const Environment& env,
                                                  ChangeHub& hub,
                                                  const grpc::CallbackServerContext& context,
                                                  const v1::WatchJobRequest& request) {
    std::shared_ptr<WatchReactor> reactor(new WatchReactor(calls, env, hub, request));
    reactor->self_ = reactor;
    absl::StatusOr<Caller> caller = calls.Admit(context, Rpc::kWatchJob);
    if (!caller.ok()) {
      reactor->End(caller.status());
      return reactor.get();
    }
    reactor->caller_ = *std::move(caller);
    std::weak_ptr<WatchReactor> weak = reactor;
    reactor->subscription_ = hub.Subscribe(JobKey(request.id()), [weak] {
      if (std::shared_ptr<WatchReactor> live = weak.lock()) live->Changed();
    });
    reactor->Changed();
    return reactor.get();
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mu_);
      is_writing_ = false;
      if (!ok) is_cancelled_ = true;
      // What nobody has changed meanwhile is as it was.
      if (!is_changed_ && !is_cancelled_) return;
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
    subscription_.reset();
    std::shared_ptr<WatchReactor> last = std::move(self_);
  }

 private:
  WatchReactor(const Calls& calls, const Environment& env, const ChangeHub& hub,
               const v1::WatchJobRequest& request)
      : pool_(calls.pool()),
        env_(env),
        hub_(hub),
        id_(request.id()),
        seen_(request.after_revision()) {}

  void Changed() {
    is_changed_ = true;
    LookLater();
  }

  void LookLater() {
    pool_.Post([self = shared_from_this()] { self->Look(); });
  }

  void Look() {
    absl::MutexLock lock(&mu_);
    if (has_ended_ || is_writing_) return;
    if (is_cancelled_) return EndLocked(absl::CancelledError("the watcher went away"));
    if (hub_.is_closed()) return EndLocked(Calls::Ending());
    is_changed_ = false;
    absl::StatusOr<v1::Job> job = ReadJob(caller_, env_, id_);
    if (!job.ok()) return EndLocked(job.status());
    const bool is_complete = IsTerminal(job->state());
    if (job->revision() > seen_) {
      job_ = *std::move(job);
      seen_ = job_.revision();
      is_writing_ = true;
      if (!is_complete) return StartWrite(&job_);
      has_ended_ = true;
      StartWriteAndFinish(&job_, grpc::WriteOptions(), grpc::Status());
    } else if (is_complete) {
      EndLocked(absl::OkStatus());
    }
  }

  void End(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    EndLocked(status);
  }
  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    has_ended_ = true;
    Finish(ToGrpc(status));
  }

  WorkPool& pool_;
  const Environment& env_;
  const ChangeHub& hub_;
  const std::string id_;
  Caller caller_;
  ChangeHub::Subscription subscription_;
  std::shared_ptr<WatchReactor> self_;
  std::atomic<bool> is_changed_ = false;  // Since the job was last read.

  absl::Mutex mu_;
  v1::Job job_;  // Not touched while it is being written.
  int64_t seen_ ABSL_GUARDED_BY(mu_);
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;  // The call has.
};

}  // namespace

grpc::ServerUnaryReactor* JobGrpcService::GetJob(grpc::CallbackServerContext* context,
                                                 const v1::GetJobRequest* request,
                                                 v1::Job* response) {
  return calls_.Unary(context, Rpc::kGetJob, [this, request, response](const Caller& caller) {
    return server::GetJob(caller, env_, *request, response);
  });
}

grpc::ServerUnaryReactor* JobGrpcService::ListJobs(grpc::CallbackServerContext* context,
                                                   const v1::ListJobsRequest* request,
                                                   v1::ListJobsResponse* response) {
  return calls_.Unary(context, Rpc::kListJobs, [this, request, response](const Caller& caller) {
    return server::ListJobs(caller, env_, *request, response);
  });
}

grpc::ServerWriteReactor<v1::Job>* JobGrpcService::WatchJob(grpc::CallbackServerContext* context,
                                                            const v1::WatchJobRequest* request) {
  return WatchReactor::Start(calls_, env_, hub_, *context, *request);
}

grpc::ServerUnaryReactor* JobGrpcService::CancelJob(grpc::CallbackServerContext* context,
                                                    const v1::CancelJobRequest* request,
                                                    v1::Job* response) {
  return calls_.Unary(
      context, Rpc::kCancelJob,
      [this, request, response](const Caller& caller) {
        return server::CancelJob(caller, env_, *request, response);
      },
      [request] { return request->id(); });
}

}  // namespace slipway::server
