#include "tests/load/grpc_fleet_clients.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/rpc/grpc_status.h"
#include "core/rpc/retry.h"
#include "core/wire/digest_proto.h"
#include "proto/slipway/v1/job.grpc.pb.h"
#include "proto/slipway/v1/run.grpc.pb.h"
#include "server/timer_queue.h"
#include "tests/load/call_count.h"
#include "tests/load/marked_result.h"

namespace slipway::testing {
namespace {

constexpr absl::Duration kPace = absl::Milliseconds(2);
constexpr std::chrono::seconds kCallDeadline(30);
// More requests are not made before some are answered.
constexpr int64_t kMostUnanswered = 2'000;

bool IsTerminal(v1::Job::State state) {
  return state == v1::Job::SUCCEEDED || state == v1::Job::FAILED || state == v1::Job::CANCELLED;
}

// One user's connection.
struct Line {
  explicit Line(const std::shared_ptr<grpc::Channel>& channel)
      : runs(v1::RunService::NewStub(channel)), jobs(v1::JobService::NewStub(channel)) {}
  const std::unique_ptr<v1::RunService::Stub> runs;
  const std::unique_ptr<v1::JobService::Stub> jobs;
};

// Contexts of calls under way, for all to be cancelled.
class OpenCalls {
 public:
  // Cancels it when all have been.
  void Add(grpc::ClientContext* context) {
    count_.Begin();
    absl::MutexLock lock(&mutex_);
    contexts_.insert(context);
    if (are_cancelled_) context->TryCancel();
  }
  void Remove(grpc::ClientContext* context) {
    absl::MutexLock lock(&mutex_);
    contexts_.erase(context);
  }
  // After Remove: the last that a call does.
  void End() { count_.End(); }
  void CancelAll() {
    absl::MutexLock lock(&mutex_);
    are_cancelled_ = true;
    for (grpc::ClientContext* context : contexts_) context->TryCancel();
  }
  void AwaitNone() { count_.AwaitNone(); }

 private:
  CallCount count_;
  absl::Mutex mutex_;
  absl::flat_hash_set<grpc::ClientContext*> contexts_ ABSL_GUARDED_BY(mutex_);
  bool are_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

// Made when it is first needed: most calls do not fail.
absl::Duration NextPause(std::unique_ptr<Backoff>& backoff) {
  if (backoff == nullptr) backoff = std::make_unique<Backoff>();
  return backoff->Next();
}

// What all requests share.
struct Desk {
  FleetLedger& ledger;
  const SystemClock clock;
  server::TimerQueue timers;
  OpenCalls calls;
  std::atomic<bool> ends = false;
  std::atomic<int64_t> unanswered = 0;
  std::atomic<int64_t> refused = 0;
};

// One job, as its client follows it. Owns itself until the job has ended, or all has.
class FollowedJob final : public grpc::ClientReadReactor<v1::Job>,
                          public std::enable_shared_from_this<FollowedJob> {
 public:
  static void Begin(Desk& desk, Line& line, std::string id) {
    std::shared_ptr<FollowedJob> job(new FollowedJob(desk, line, std::move(id)));
    job->Watch();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    seen_ = read_.revision();
    if (IsTerminal(read_.state())) {
      has_ended_ = true;
      desk_.ledger.Ended(id_,
                         {.state = read_.state(),
                          .revision = read_.revision(),
                          .mark = MarkOf(read_.run_result())},
                         desk_.clock.Monotonic());
    }
    StartRead(&read_);
  }

  void OnDone(const grpc::Status&) override {
    const std::shared_ptr<FollowedJob> self = std::move(self_);
    Desk& desk = desk_;
    desk.calls.Remove(context_.get());
    if (!has_ended_ && !desk.ends) {
      // A reactor serves once: another one goes on.
      std::shared_ptr<FollowedJob> next(new FollowedJob(desk_, line_, id_));
      next->seen_ = seen_;
      next->backoff_ = std::move(backoff_);
      desk.timers.After(NextPause(next->backoff_), [next] { next->Watch(); });
    }
    desk.calls.End();
  }

 private:
  FollowedJob(Desk& desk, Line& line, std::string id)
      : desk_(desk), line_(line), id_(std::move(id)) {}

  void Watch() {
    self_ = shared_from_this();
    request_.set_id(id_);
    request_.set_after_revision(seen_);
    context_ = std::make_unique<grpc::ClientContext>();
    desk_.calls.Add(context_.get());
    line_.jobs->async()->WatchJob(context_.get(), &request_, this);
    StartRead(&read_);
    StartCall();
  }

  Desk& desk_;
  Line& line_;
  const std::string id_;
  std::shared_ptr<FollowedJob> self_;
  std::unique_ptr<grpc::ClientContext> context_;
  v1::WatchJobRequest request_;
  v1::Job read_;
  int64_t seen_ = 0;
  bool has_ended_ = false;
  std::unique_ptr<Backoff> backoff_;
};

class GrpcFleetClients final : public FleetClients {
 public:
  GrpcFleetClients(const Options& options, const FleetDoor* door, FleetLedger* ledger)
      : options_(options), desk_{.ledger = *ledger} {
    for (int i = 0; i < options_.clients; ++i) {
      lines_.push_back(std::make_unique<Line>(door->ClientChannel(i)));
    }
  }
  ~GrpcFleetClients() override {
    Stop();
    desk_.ends = true;
    desk_.timers.Stop();
    desk_.calls.CancelAll();
    desk_.calls.AwaitNone();
  }

  void Begin() override {
    pacer_ = std::thread([this] { Pace(); });
  }
  void Stop() override {
    stops_ = true;
    if (pacer_.joinable()) pacer_.join();
  }

  int64_t unanswered() const override { return desk_.unanswered; }
  int64_t refused() const override { return desk_.refused; }

 private:
  // A request until it is answered.
  struct Create {
    int64_t number = 0;
    Line* line = nullptr;
    v1::CreateRunRequest request;
    v1::CreateJobResponse response;
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<Backoff> backoff;
  };

  void Pace() {
    const absl::Duration begin = desk_.clock.Monotonic();
    int64_t asked = 0;
    while (!stops_) {
      const double elapsed = absl::ToDoubleSeconds(desk_.clock.Monotonic() - begin);
      const auto due = static_cast<int64_t>(elapsed * options_.jobs_per_second);
      for (; asked < due && desk_.unanswered < kMostUnanswered && !stops_; ++asked) Ask(asked);
      std::this_thread::sleep_for(absl::ToChronoMicroseconds(kPace));
    }
  }

  void Ask(int64_t number) {
    auto create = std::make_shared<Create>();
    create->number = number;
    create->line = lines_[static_cast<size_t>(number) % lines_.size()].get();
    create->request.set_request_id(FleetDoor::RequestId(number));
    *create->request.mutable_spec()->mutable_manifest() = ToProto(options_.program);
    ++desk_.unanswered;
    desk_.ledger.Asked(number, desk_.clock.Monotonic());
    Call(std::move(create));
  }

  void Call(std::shared_ptr<Create> create) {
    create->context = std::make_unique<grpc::ClientContext>();
    create->context->set_deadline(std::chrono::system_clock::now() + kCallDeadline);
    desk_.calls.Add(create->context.get());
    Create& called = *create;
    called.line->runs->async()->CreateRun(
        called.context.get(), &called.request, &called.response,
        [this, create = std::move(create)](const grpc::Status& status) mutable {
          desk_.calls.Remove(create->context.get());
          Answered(std::move(create), FromGrpc(status));
          desk_.calls.End();
        });
  }

  void Answered(std::shared_ptr<Create> create, const absl::Status& status) {
    if (status.ok()) {
      --desk_.unanswered;
      desk_.ledger.Accepted(create->number, create->response.job_id(), desk_.clock.Monotonic());
      if (!desk_.ends) FollowedJob::Begin(desk_, *create->line, create->response.job_id());
      return;
    }
    if (desk_.ends) return;
    // Others are mistakes of this simulation.
    SLIPWAY_CHECK(absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
                      absl::IsDeadlineExceeded(status),
                  status.ToString());
    if (absl::IsResourceExhausted(status)) ++desk_.refused;
    const absl::Duration pause = NextPause(create->backoff);
    desk_.timers.After(pause, [this, create = std::move(create)] { Call(create); });
  }

  const Options options_;
  Desk desk_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::atomic<bool> stops_ = false;
  std::thread pacer_;
};

}  // namespace

std::unique_ptr<FleetClients> FleetClients::Create(const Options& options, const FleetDoor* door,
                                                   FleetLedger* ledger) {
  return std::make_unique<GrpcFleetClients>(options, door, ledger);
}

}  // namespace slipway::testing
