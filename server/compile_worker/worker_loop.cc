#include "server/compile_worker/worker_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/random/random.h"
#include "core/base/log.h"
#include "core/base/version.h"

namespace slipway::worker {
namespace {

constexpr absl::Duration kPark = absl::Seconds(30);
// While something is compiled, calls are parked for this long only: progress is for people.
constexpr absl::Duration kProgressInterval = absl::Seconds(1);
constexpr absl::Duration kFirstBackoff = absl::Milliseconds(100);
constexpr absl::Duration kTakeOverBackoff = absl::Seconds(1);
constexpr absl::Duration kLongestBackoff = absl::Seconds(5);

}  // namespace

WorkerLoop::WorkerLoop(Options options, const AttemptEnvironment* env)
    : options_(std::move(options)), env_(*env), backoff_(kFirstBackoff) {}

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
  state.set_fingerprint(options_.fingerprint);
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
      backoff_ = kFirstBackoff;
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
        {{"attempt", assignment.attempt_id()}, {"job", assignment.job_id()}});
    attempt = std::make_unique<CompileAttempt>(&env_, assignment,
                                               [this] { env_.transport->Interrupt(); });
  }
  applied_version_ = desired.version();
}

void WorkerLoop::WaitAfter(const absl::Status& status) {
  if (absl::IsAlreadyExists(status)) {
    // The one before this, which the server does not know yet to be gone.
    backoff_ = kTakeOverBackoff;
  } else if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) {
    // What an operator must change does not change soon.
    backoff_ = kLongestBackoff;
  }
  absl::BitGen random;
  const absl::Duration wait = backoff_ * absl::Uniform(random, 0.5, 1.0);
  Log(LogLevel::kWarning, "server not reached",
      {{"why", status.ToString()}, {"again_in_ms", absl::ToInt64Milliseconds(wait)}});
  backoff_ = std::min(backoff_ * 2, kLongestBackoff);
  env_.transport->Pause(wait, stops_.get_token());
}

}  // namespace slipway::worker
