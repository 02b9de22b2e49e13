#include "server/compile_worker/worker_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "core/base/log.h"
#include "core/base/version.h"

namespace slipway::worker {
namespace {

constexpr absl::Duration kPark = absl::Seconds(30);
// While something is compiled, calls are parked for this long only: progress is for people.
constexpr absl::Duration kProgressInterval = absl::Seconds(1);

}  // namespace

WorkerLoop::WorkerLoop(Options options, const AttemptEnvironment* env)
    : options_(std::move(options)), env_(*env) {}

WorkerLoop::~WorkerLoop() = default;

void WorkerLoop::Stop() {
  stops_.request_stop();
  env_.transport->Interrupt();
}

v1::WorkerState WorkerLoop::NextReport() {
  v1::WorkerState state;
  state.set_worker_id(options_.worker_id);
  state.set_instance_id(options_.instance_id);
  state.set_sequence(++sequence_);
  state.set_version(kVersion);
  state.set_min_protocol(kMinProtocol);
  state.set_max_protocol(kMaxProtocol);
  state.set_fingerprint(options_.targets.front().fingerprint);
  for (const CompilerTarget& target : options_.targets) {
    v1::TargetSupport& support = *state.add_targets();
    support.set_family(target.family);
    support.set_fingerprint(target.fingerprint);
  }
  state.set_capacity(options_.capacity);
  state.set_applied_version(applied_version_);
  absl::Duration park = kPark;
  for (const auto& [id, attempt] : attempts_) {
    *state.add_attempts() = attempt->State();
    const bool runs = state.attempts().rbegin()->state() == v1::CompileAttemptState::RUNNING;
    if (runs) park = kProgressInterval;
  }
  state.set_park_ns(absl::ToInt64Nanoseconds(park));
  return state;
}

void WorkerLoop::Run() {
  while (!stops_.stop_requested()) {
    const absl::StatusOr<v1::DesiredWorkerState> desired = env_.transport->Sync(NextReport());
    if (desired.ok()) {
      backoff_.Reset();
      Move(*desired);
    } else if (!absl::IsCancelled(desired.status())) {
      WaitAfter(desired.status());
    }
  }
  attempts_.clear();
}

void WorkerLoop::Move(const v1::DesiredWorkerState& desired) {
  absl::btree_set<std::string> wanted;
  for (const v1::CompileAssignment& assignment : desired.attempts()) {
    wanted.insert(assignment.attempt_id());
  }
  // What is not wanted any more ends first: it may be in the way of what is.
  for (auto it = attempts_.begin(); it != attempts_.end();) {
    if (wanted.contains(it->first)) {
      ++it;
    } else {
      it = attempts_.erase(it);
    }
  }
  for (const v1::CompileAssignment& assignment : desired.attempts()) {
    std::unique_ptr<CompileAttempt>& attempt = attempts_[assignment.attempt_id()];
    if (attempt != nullptr) continue;
    Log(LogLevel::kInfo, "attempt begins",
        {{"attempt", assignment.attempt_id()},
         {"job", assignment.job_id()},
         {"request", assignment.request_id()}});
    attempt = std::make_unique<CompileAttempt>(&env_, assignment,
                                               [this] { env_.transport->Interrupt(); });
  }
  log_level_.Follow(desired.log_level());
  applied_version_ = desired.version();
  silence_ = absl::Nanoseconds(desired.silence_ns());
}

void WorkerLoop::WaitAfter(const absl::Status& status) {
  absl::Duration wait = backoff_.After(status);
  // Never so long that the server takes the worker for lost.
  if (silence_ > absl::ZeroDuration()) wait = std::min(wait, silence_ / 2);
  Log(LogLevel::kWarning, "server not reached",
      {{"why", status.ToString()}, {"again_in_ms", absl::ToInt64Milliseconds(wait)}});
  env_.transport->Pause(wait, stops_.get_token());
}

}  // namespace slipway::worker
