#include "device_agent/agent_loop.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"

namespace slipway {
namespace {

// How much longer than parked a call may take.
constexpr absl::Duration kCallSlack = absl::Seconds(10);
// What an agent that ends waits for its last report.
constexpr absl::Duration kLeaveWithin = absl::Seconds(1);

}  // namespace

AgentLoop::AgentLoop(AgentTransport& transport, AttemptFunction run_attempt,
                     AgentLoopOptions options)
    : transport_(transport),
      run_attempt_(std::move(run_attempt)),
      options_(std::move(options)),
      identity_(options_.identity) {}

AgentLoop::~AgentLoop() { StopWorker(); }

void AgentLoop::StopWorker() {
  std::optional<Worker> worker;
  std::thread fetches;
  {
    absl::MutexLock lock(&mutex_);
    worker.swap(worker_);
    if (taking_.has_value()) {
      taking_->stop.request_stop();
      fetches.swap(taking_->thread);
    }
  }
  if (fetches.joinable()) fetches.join();
  if (!worker.has_value()) return;
  worker->stop.request_stop();
  worker->thread.join();
}

void AgentLoop::DropOffer() {
  identity_.mutable_update()->clear_taking();
  if (!taking_.has_value()) return;
  taking_->stop.request_stop();
  // One that fetches is joined when that has ended.
  if (taking_->thread.joinable() && !taking_->end.has_value()) return;
  if (taking_->thread.joinable()) taking_->thread.join();
  taking_.reset();
}

bool AgentLoop::ConsiderOffer(bool takes) {
  const bool is_same = taking_.has_value() && taking_->offer.id() == desired_.offer().id();
  if (taking_.has_value() && !is_same) DropOffer();
  if (!takes) return false;
  v1::AgentUpdate& update = *identity_.mutable_update();
  if (!taking_.has_value()) {
    taking_.emplace(desired_.offer());
    update.set_taking(desired_.offer().id());
    return false;
  }
  if (!is_same || !taking_->is_told) return false;
  if (!taking_->thread.joinable()) {
    taking_->thread = std::thread([this, offer = taking_->offer, stop = taking_->stop.get_token()] {
      absl::Status status = options_.fetch_offer(offer, stop);
      absl::MutexLock lock(&mutex_);
      taking_->end = std::move(status);
      ReportAnew();
    });
    Log(LogLevel::kInfo, "takes an offer", {{"offer", taking_->offer.id()}});
    return false;
  }
  if (!taking_->end.has_value()) return false;
  absl::Status status = *taking_->end;
  if (status.ok()) status = options_.take_offer(taking_->offer);
  if (status.ok()) return true;
  if (!absl::IsCancelled(status)) {
    Log(LogLevel::kError, "gives an offer up",
        {{"offer", taking_->offer.id()}, {"why", status.message()}});
    update.set_failed(taking_->offer.id());
    update.set_failure(std::string(status.message()));
  }
  DropOffer();
  return false;
}

void AgentLoop::SetAttempt(const v1::RunAttemptState& attempt) {
  absl::MutexLock lock(&mutex_);
  held_[attempt.attempt_id()] = attempt;
  ReportAnew();
}

void AgentLoop::Describe(const v1::DeviceDescription& device) {
  absl::MutexLock lock(&mutex_);
  identity_.clear_devices();
  *identity_.add_devices() = device;
  ReportAnew();
}

void AgentLoop::ReportAnew() {
  call_is_stale_ = true;
  if (call_ != nullptr) call_->Cancel();
}

void AgentLoop::StartAttempt(const v1::RunAssignment& assignment) {
  // What worked before has ended: Reconcile begins nothing while something is under way.
  if (worker_.has_value()) worker_->thread.join();
  v1::RunAttemptState& attempt = held_[assignment.attempt_id()];
  attempt.set_attempt_id(assignment.attempt_id());
  attempt.set_state(v1::RunAttemptState::PREPARING);
  worker_.emplace();
  worker_->attempt_id = assignment.attempt_id();
  worker_->thread = std::thread([this, assignment, stop = worker_->stop.get_token()] {
    SetAttempt(run_attempt_(
        assignment, [this](const v1::RunAttemptState& attempt) { SetAttempt(attempt); }, stop));
    if (options_.after_attempt) options_.after_attempt();
  });
  Log(LogLevel::kInfo, "begins an attempt",
      {{"attempt", assignment.attempt_id()},
       {"job", assignment.job_id()},
       {"request", assignment.request_id()}});
}

absl::Duration AgentLoop::NotLost(absl::Duration time) const {
  if (desired_.silence_ns() <= 0) return time;
  return std::min(time, absl::Nanoseconds(desired_.silence_ns()) / 2);
}

v1::AgentState AgentLoop::MakeReport() {
  v1::AgentState state = identity_;
  state.set_sequence(++sequence_);
  state.set_applied_version(desired_.version());
  for (const auto& [id, attempt] : held_) *state.add_attempts() = attempt;
  return state;
}

v1::AgentState AgentLoop::Act(std::shared_ptr<SyncCall>& call) {
  absl::MutexLock lock(&mutex_);
  bool is_short = false;
  const AgentActions actions =
      Reconcile(held_, desired_, identity_.has_update() ? &identity_.update() : nullptr);
  has_taken_ = identity_.has_update() && ConsiderOffer(actions.takes_offer);
  for (const std::string& id : actions.stop) {
    if (worker_.has_value() && worker_->attempt_id == id) worker_->stop.request_stop();
  }
  for (const std::string& id : actions.forget) held_.erase(id);
  for (const int index : actions.start) {
    StartAttempt(desired_.attempts(index));
    is_short = desired_.attempts(index).has_run();
  }
  if (is_short) AwaitMoment();

  v1::AgentState state = MakeReport();
  state.set_park_ns(
      absl::ToInt64Nanoseconds(NotLost(options_.park * absl::Uniform(random_, 0.8, 1.0))));
  // What it waits for is that the server knows.
  if (taking_.has_value() && !taking_->is_told) state.set_park_ns(0);
  // In the same critical section as the report: a change after it finds the call and cancels it.
  is_at_stake_ = IsAtStake(held_, is_at_stake_);
  call = transport_.NewSync(is_at_stake_);
  call_ = call;
  call_is_stale_ = false;
  return state;
}

void AgentLoop::AwaitMoment() {
  const auto is_over = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return std::none_of(held_.begin(), held_.end(),
                        [](const auto& held) { return IsActive(held.second); });
  };
  mutex_.AwaitWithTimeout(absl::Condition(&is_over), options_.moment);
}

void AgentLoop::LogFailure(const absl::Status& status) {
  // Once for each kind of failure in a row, not for each try.
  if (status.code() == last_failure_) return;
  last_failure_ = status.code();
  const char* message = "cannot reach the server, trying again";
  if (absl::IsAlreadyExists(status)) {
    message = "another agent uses this id, trying again slowly";
  } else if (absl::IsFailedPrecondition(status)) {
    message = "the server does not take this agent, trying again slowly";
  } else if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) {
    message = "the server refuses the agent's report, trying again";
  }
  Log(LogLevel::kWarning, message, {{"error", status.ToString()}});
}

void AgentLoop::StayAway(const absl::Status& status, std::stop_token stop) {
  const double share = absl::Uniform(random_, 0.0, 1.0);
  absl::Duration time;
  {
    absl::MutexLock lock(&mutex_);
    time = TimeAway(status, held_, desired_, share);
  }
  if (time > absl::ZeroDuration()) transport_.StayAway(time, std::move(stop));
}

AgentEnd AgentLoop::Run(std::stop_token stop) {
  const std::stop_callback cancel(stop, [this] {
    absl::MutexLock lock(&mutex_);
    if (call_ != nullptr) call_->Cancel();
  });
  while (!stop.stop_requested()) {
    std::shared_ptr<SyncCall> call;
    v1::AgentState state = Act(call);
    // The stop may have come before the call was there to be cancelled.
    if (stop.stop_requested() || HasTaken()) break;
    if (options_.read_machine) {
      std::optional<v1::MachineState> machine = options_.read_machine();
      if (machine.has_value()) *state.mutable_machine() = *std::move(machine);
    }
    absl::StatusOr<v1::DesiredAgentState> desired =
        call->Run(state, absl::Nanoseconds(state.park_ns()) + kCallSlack);
    if (options_.on_synced) options_.on_synced(desired.status());
    bool is_stale = false;
    {
      absl::MutexLock lock(&mutex_);
      call_ = nullptr;
      is_stale = call_is_stale_;
      if (desired.ok() && taking_.has_value() && state.update().taking() == taking_->offer.id()) {
        taking_->is_told = true;
      }
    }
    if (desired.ok()) {
      if (last_failure_ != absl::StatusCode::kOk) {
        Log(LogLevel::kInfo, "the server answers again");
      }
      desired_ = *std::move(desired);
      log_level_.Follow(desired_.log_level());
      backoff_.Reset();
      last_failure_ = absl::StatusCode::kOk;
      if (!is_ready_ && options_.on_ready) options_.on_ready();
      is_ready_ = true;
      continue;
    }
    if (stop.stop_requested()) break;
    if (absl::IsCancelled(desired.status()) && is_stale) continue;
    LogFailure(desired.status());
    StayAway(desired.status(), stop);
    transport_.Pause(NotLost(backoff_.After(desired.status())), stop);
  }
  StopWorker();
  if (is_ready_) Leave();
  return HasTaken() && !stop.stop_requested() ? AgentEnd::kTakesOffer : AgentEnd::kStopped;
}

bool AgentLoop::HasTaken() {
  absl::MutexLock lock(&mutex_);
  return has_taken_;
}

void AgentLoop::Leave() {
  v1::AgentState state;
  {
    absl::MutexLock lock(&mutex_);
    state = MakeReport();
  }
  state.set_leaving(true);
  const absl::Status told =
      transport_.NewSync(/*is_at_stake=*/true)->Run(state, kLeaveWithin).status();
  if (!told.ok()) {
    Log(LogLevel::kWarning, "the server was not told that the agent leaves",
        {{"error", told.ToString()}});
  }
}

}  // namespace slipway
