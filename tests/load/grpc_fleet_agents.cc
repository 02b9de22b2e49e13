#include "tests/load/grpc_fleet_agents.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/artifact/versions.h"
#include "core/base/clock.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/rpc/retry.h"
#include "device_agent/agent_loop.h"
#include "device_agent/reconcile.h"
#include "proto/slipway/v1/agent.grpc.pb.h"
#include "server/timer_queue.h"
#include "tests/load/call_count.h"
#include "tests/load/marked_result.h"

namespace slipway::testing {
namespace {

// As device_agent/agent_loop.cc has it.
constexpr absl::Duration kCallSlack = absl::Seconds(10);

// Agents that have begun to call and were not answered yet.
constexpr int kComing = 100;

// What all agents share.
struct Fleet {
  const FleetDoor& door;
  FleetLedger& ledger;
  const absl::Duration longest_work;
  const AgentLoopOptions options;  // As slipway-agent has them.
  const SystemClock clock;
  server::TimerQueue timers;
  CallCount calls;
  std::atomic<bool> ends = false;
  std::atomic<int64_t> last_mark = 0;
  std::function<void()> on_first_answer;

  absl::Mutex mutex;
  SyncCounts counts ABSL_GUARDED_BY(mutex);
};

// The decisions are those of device_agent/agent_loop.cc, without its threads.
class SimulatedAgent {
 public:
  SimulatedAgent(Fleet& fleet, int number, uint64_t seed)
      : fleet_(fleet), number_(number), random_(seed) {
    const std::string id = fleet_.door.AgentId(number);
    identity_.set_agent_id(id);
    identity_.set_instance_id(absl::StrCat("simulated ", seed));
    identity_.set_version("simulated");
    identity_.set_min_protocol(1);
    identity_.set_max_protocol(1);
    identity_.set_min_abi(static_cast<int32_t>(kSpokenAbis.lowest));
    identity_.set_max_abi(static_cast<int32_t>(kSpokenAbis.highest));
    identity_.set_min_format(static_cast<int32_t>(kReadFormats.lowest));
    identity_.set_max_format(static_cast<int32_t>(kReadFormats.highest));
    v1::DeviceDescription& device = *identity_.add_devices();
    device.set_id(id);
    device.set_target("x86-64-linux");
    device.set_model("a simulated board");
    device.set_os("Linux");
  }

  void Sync() {
    std::shared_ptr<Call> call;
    {
      absl::MutexLock lock(&mutex_);
      call = Act();
    }
    Start(std::move(call));
  }

  // Whatever is under way ends.
  void Cancel() {
    std::shared_ptr<Call> call;
    {
      absl::MutexLock lock(&mutex_);
      call = call_;
    }
    if (call != nullptr) call->context.TryCancel();
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::AgentState state;
    v1::DesiredAgentState desired;
    v1::AgentService::Stub* line = nullptr;
    absl::Duration begin;
    bool is_at_once = false;
  };
  // A connection to the server, made when it is first needed.
  struct Line {
    std::unique_ptr<v1::AgentService::Stub> stub;
  };

  // Moves towards what is wanted; makes the next call, unless that comes in a
  // moment.
  std::shared_ptr<Call> Act() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const AgentActions actions = Reconcile(held_, desired_);
    // What is stopped is over at once: nothing works on it.
    for (const std::string& id : actions.stop) held_.erase(id);
    for (const std::string& id : actions.forget) held_.erase(id);
    if (actions.start.empty()) return NewCall();
    const v1::RunAssignment& assignment = desired_.attempts(actions.start.front());
    BeginWork(assignment);
    awaited_ = assignment.attempt_id();
    fleet_.timers.After(fleet_.options.moment, [this, id = awaited_] { EndMoment(id); });
    return nullptr;
  }

  void EndMoment(const std::string& attempt) {
    std::shared_ptr<Call> call;
    {
      absl::MutexLock lock(&mutex_);
      if (awaited_ != attempt) return;
      call = NewCall();
    }
    Start(std::move(call));
  }

  std::shared_ptr<Call> NewCall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    awaited_.clear();
    auto call = std::make_shared<Call>();
    call->state = identity_;
    call->state.set_sequence(++sequence_);
    call->state.set_applied_version(desired_.version());
    call->is_at_once = desired_.version().empty();
    for (const auto& [id, attempt] : held_) {
      *call->state.add_attempts() = attempt;
      call->is_at_once = call->is_at_once || !IsActive(attempt);
    }
    absl::Duration park = fleet_.options.park * absl::Uniform(random_, 0.8, 1.0);
    if (desired_.silence_ns() > 0) {
      park = std::min(park, absl::Nanoseconds(desired_.silence_ns()) / 2);
    }
    call->state.set_park_ns(absl::ToInt64Nanoseconds(park));
    call->context.set_deadline(std::chrono::system_clock::now() +
                               absl::ToChronoNanoseconds(park + kCallSlack));
    is_at_stake_ = IsAtStake(held_, is_at_stake_);
    Line& line = is_at_stake_ ? busy_ : idle_;
    if (line.stub == nullptr) {
      line.stub = v1::AgentService::NewStub(
          fleet_.door.AgentChannel(number_, is_at_stake_ ? kBusyPings : kPings));
    }
    call->line = line.stub.get();
    call_ = call;
    is_stale_ = false;
    return call;
  }

  // Without the lock: gRPC may call back at once.
  void Start(std::shared_ptr<Call> call) {
    if (call == nullptr) return;
    call->begin = fleet_.clock.Monotonic();
    fleet_.calls.Begin();
    if (fleet_.ends) call->context.TryCancel();
    Call& started = *call;
    started.line->async()->Sync(&started.context, &started.state, &started.desired,
                                [this, call = std::move(call)](const grpc::Status& status) {
                                  Answered(*call, FromGrpc(status));
                                  fleet_.calls.End();
                                });
  }

  void Answered(Call& call, const absl::Status& status) {
    const absl::Duration took = fleet_.clock.Monotonic() - call.begin;
    bool is_first = false;
    std::optional<absl::Duration> pause;
    std::shared_ptr<Call> next;
    {
      absl::MutexLock lock(&mutex_);
      call_ = nullptr;
      const bool is_stale = absl::IsCancelled(status) && is_stale_;
      if (fleet_.ends) return;
      if (status.ok()) {
        desired_ = std::move(call.desired);
        backoff_.Reset();
        is_first = !std::exchange(was_answered_, true);
      }
      if (status.ok() || is_stale) {
        next = Act();
      } else {
        pause = backoff_.After(status);
        if (desired_.silence_ns() > 0) {
          pause = std::min(*pause, absl::Nanoseconds(desired_.silence_ns()) / 2);
        }
        *pause += TimeAway(status, held_, desired_, absl::Uniform(random_, 0.0, 1.0));
      }
    }
    {
      absl::MutexLock lock(&fleet_.mutex);
      if (status.ok()) ++fleet_.counts.answered;
      if (status.ok() && call.is_at_once) fleet_.counts.at_once.push_back(took);
      if (pause.has_value()) ++fleet_.counts.failed;
    }
    if (is_first) fleet_.on_first_answer();
    Start(std::move(next));
    if (pause.has_value()) fleet_.timers.After(*pause, [this] { Sync(); });
  }

  void BeginWork(const v1::RunAssignment& assignment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::string& id = assignment.attempt_id();
    v1::RunAttemptState& attempt = held_[id];
    attempt.set_attempt_id(id);
    attempt.set_state(v1::RunAttemptState::PREPARING);
    fleet_.ledger.Given(assignment.job_id(), fleet_.clock.Monotonic());
    const absl::Duration work = fleet_.longest_work * absl::Uniform(random_, 0.0, 1.0);
    fleet_.timers.After(work / 4, [this, id] {
      Change(id,
             [](v1::RunAttemptState& running) { running.set_state(v1::RunAttemptState::RUNNING); });
    });
    fleet_.timers.After(work, [this, id, job = assignment.job_id()] {
      Change(id, [this, &job](v1::RunAttemptState& ended) {
        const int64_t mark = ++fleet_.last_mark;
        fleet_.ledger.Worked(job, mark);
        ended.set_state(v1::RunAttemptState::SUCCEEDED);
        *ended.mutable_run_result() = MarkedResult(identity_.agent_id(), mark);
      });
    });
  }

  // Changes an attempt that is held still; what is reported now does not say
  // any more how it is.
  template <typename Change>
  void Change(const std::string& id, Change change) {
    std::shared_ptr<Call> stale;
    std::shared_ptr<Call> next;
    {
      absl::MutexLock lock(&mutex_);
      const auto attempt = held_.find(id);
      if (attempt == held_.end()) return;
      change(attempt->second);
      if (awaited_.empty()) {
        is_stale_ = true;
        stale = call_;
      } else if (!IsActive(attempt->second)) {
        next = NewCall();
      }
    }
    if (stale != nullptr) stale->context.TryCancel();
    Start(std::move(next));
  }

  Fleet& fleet_;
  const int number_;
  const AgentLoopOptions options_;  // As slipway-agent has them.
  v1::AgentState identity_;

  absl::Mutex mutex_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  Line busy_ ABSL_GUARDED_BY(mutex_);
  Line idle_ ABSL_GUARDED_BY(mutex_);
  int64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  v1::DesiredAgentState desired_ ABSL_GUARDED_BY(mutex_);
  HeldAttempts held_ ABSL_GUARDED_BY(mutex_);
  // The attempt that has just begun, whose end is waited for before anything is
  // reported; empty: none.
  std::string awaited_ ABSL_GUARDED_BY(mutex_);
  Backoff backoff_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Call> call_ ABSL_GUARDED_BY(mutex_);
  bool is_stale_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_at_stake_ ABSL_GUARDED_BY(mutex_) = false;
  bool was_answered_ ABSL_GUARDED_BY(mutex_) = false;
};

class GrpcFleetAgents final : public FleetAgents {
 public:
  GrpcFleetAgents(const Options& options, const FleetDoor* door, FleetLedger* ledger)
      : fleet_{.door = *door, .ledger = *ledger, .longest_work = options.longest_work} {
    fleet_.on_first_answer = [this] { ComeNext(); };
    for (int i = 0; i < options.agents; ++i) {
      agents_.push_back(
          std::make_unique<SimulatedAgent>(fleet_, i, options.seed + static_cast<uint64_t>(i)));
    }
  }
  ~GrpcFleetAgents() override {
    fleet_.ends = true;
    fleet_.timers.Stop();
    for (const auto& agent : agents_) agent->Cancel();
    fleet_.calls.AwaitNone();
  }

  void Come() override {
    for (int i = 0; i < kComing; ++i) ComeNext();
  }

  SyncCounts TakeCounts() override {
    absl::MutexLock lock(&fleet_.mutex);
    return std::exchange(fleet_.counts, SyncCounts{});
  }

 private:
  void ComeNext() {
    const size_t next = came_++;
    if (next < agents_.size() && !fleet_.ends) agents_[next]->Sync();
  }

  Fleet fleet_;
  std::vector<std::unique_ptr<SimulatedAgent>> agents_;
  std::atomic<size_t> came_ = 0;
};

}  // namespace

std::unique_ptr<FleetAgents> FleetAgents::Create(const Options& options, const FleetDoor* door,
                                                 FleetLedger* ledger) {
  return std::make_unique<GrpcFleetAgents>(options, door, ledger);
}

}  // namespace slipway::testing
