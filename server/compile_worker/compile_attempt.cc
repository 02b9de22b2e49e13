#include "server/compile_worker/compile_attempt.h"

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/machine_lock.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "core/wire/status_proto.h"

namespace slipway::worker {

CompileAttempt::CompileAttempt(const AttemptEnvironment* env,
                               const v1::CompileAssignment& assignment, Ended ended)
    : env_(*env),
      assignment_(assignment),
      ended_(std::move(ended)),
      began_(SystemClock().Monotonic()),
      transfers_{.retry_for = absl::InfiniteDuration(),
                 .until = absl::Now() + absl::Nanoseconds(assignment_.deadline_ns()),
                 .stop = stop_.get_token()} {
  {
    absl::MutexLock lock(&mu_);
    state_.set_attempt_id(assignment_.attempt_id());
    state_.set_state(v1::CompileAttemptState::RUNNING);
  }
  thread_ = std::thread([this] { Run(); });
}

CompileAttempt::~CompileAttempt() {
  stop_.request_stop();
  {
    absl::MutexLock lock(&mu_);
    if (child_ != nullptr) child_->Kill();
  }
  thread_.join();
}

v1::CompileAttemptState CompileAttempt::State() const {
  absl::MutexLock lock(&mu_);
  return state_;
}

void CompileAttempt::Run() {
  const LogRequest named(assignment_.request_id());
  v1::CompileAttemptState end = Work();
  end.set_attempt_id(assignment_.attempt_id());
  Log(LogLevel::kInfo, "attempt ended",
      {{"attempt", assignment_.attempt_id()},
       {"job", assignment_.job_id()},
       {"state", v1::CompileAttemptState::State_Name(end.state())},
       {"ms", absl::ToInt64Milliseconds(SystemClock().Monotonic() - began_)},
       {"why", end.error().message()}});
  {
    absl::MutexLock lock(&mu_);
    state_ = std::move(end);
  }
  ended_();
}

void CompileAttempt::ShowProgress(absl::string_view stage, int64_t done, int64_t total) {
  absl::MutexLock lock(&mu_);
  v1::JobProgress& progress = *state_.mutable_progress();
  progress.set_stage(std::string(stage));
  progress.set_done(done);
  progress.set_total(total);
}

v1::CompileAttemptState CompileAttempt::Failed(const absl::Status& status, bool retriable) const {
  v1::CompileAttemptState state;
  state.set_state(stop_.stop_requested() ? v1::CompileAttemptState::STOPPED
                                         : v1::CompileAttemptState::FAILED);
  *state.mutable_error() = ToProto(status, "");
  state.set_retriable(retriable);
  return state;
}

absl::Status CompileAttempt::FetchFiles() {
  const auto& files = assignment_.spec().model().files();
  int64_t done = 0;
  for (const v1::ModelFile& file : files) {
    ShowProgress("fetch model", done++, files.size());
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(file.digest()));
    SLIPWAY_RETURN_IF_ERROR(env_.transport->Fetch(digest, *env_.store, transfers_));
  }
  for (const v1::Tensor& input : assignment_.spec().options().evaluation().inputs()) {
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(input.blob()));
    SLIPWAY_RETURN_IF_ERROR(env_.transport->Fetch(digest, *env_.store, transfers_));
  }
  return absl::OkStatus();
}

v1::CompileAttemptState CompileAttempt::Work() {
  const absl::Duration deadline = absl::Nanoseconds(assignment_.deadline_ns());
  const absl::Status fetched = FetchFiles();
  if (!fetched.ok()) return Failed(fetched, /*retriable=*/true);
  std::optional<MachineLock> machine;
  if (env_.take_machine_lock) {
    ShowProgress("wait for benchmarks to end", 0, 0);
    absl::StatusOr<MachineLock> lock = MachineLock::Acquire(
        MachineLock::Mode::kShared, deadline, [this] { return stop_.stop_requested(); });
    if (!lock.ok()) return Failed(lock.status(), /*retriable=*/true);
    machine = *std::move(lock);
  }

  ShowProgress("start the compiler", 0, 0);
  CompileChildRequest request;
  *request.mutable_spec() = assignment_.spec();
  request.set_compile_key(assignment_.compile_key());
  request.set_store_folder(env_.store_folder);
  request.set_store_is_durable(env_.store_is_durable);
  request.set_kernel_cache_folder(env_.kernel_cache_folder);
  request.set_require_confinement(env_.require_confinement);
  request.set_request_id(assignment_.request_id());
  CompileChild::Options options;
  options.command = env_.child_command;
  options.memory_bytes = env_.memory_bytes;
  options.groups = env_.groups;
  options.deadline = deadline - (SystemClock().Monotonic() - began_);
  absl::StatusOr<std::unique_ptr<CompileChild>> started = CompileChild::Start(options, request);
  if (!started.ok()) return Failed(started.status(), /*retriable=*/true);
  CompileChild* child = started->get();
  {
    absl::MutexLock lock(&mu_);
    child_ = *std::move(started);
    if (stop_.stop_requested()) child_->Kill();
  }
  ChildFailure failure;
  const absl::StatusOr<CompileChildResponse::Made> made =
      child->Wait([this](absl::string_view stage, int64_t done,
                         int64_t total) { ShowProgress(stage, done, total); },
                  &failure);
  machine.reset();
  if (!made.ok()) {
    v1::CompileAttemptState state = Failed(made.status(), failure.retriable);
    if (failure.error.code() != 0) *state.mutable_error() = failure.error;
    return state;
  }

  std::vector<Digest> digests;
  for (const v1::Digest& blob : made->blobs()) {
    const absl::StatusOr<Digest> digest = FromProto(blob);
    if (!digest.ok()) return Failed(digest.status(), /*retriable=*/false);
    digests.push_back(*digest);
  }
  const absl::StatusOr<Digest> manifest = FromProto(made->manifest());
  if (!manifest.ok()) return Failed(manifest.status(), /*retriable=*/false);
  // Last, so that a manifest is never there without what it names.
  digests.push_back(*manifest);
  ShowProgress("send artifact", 0, static_cast<int64_t>(digests.size()));
  const absl::Status sent = env_.transport->Send(digests, *env_.store, transfers_);
  if (!sent.ok()) return Failed(sent, /*retriable=*/true);
  v1::CompileAttemptState state;
  state.set_state(v1::CompileAttemptState::SUCCEEDED);
  *state.mutable_result()->mutable_manifest() = made->manifest();
  state.mutable_result()->set_compile_key(assignment_.compile_key());
  *state.mutable_result()->mutable_report() = made->report();
  return state;
}

}  // namespace slipway::worker
