// Dispatcher: what there is, in sums, and what logs show of it.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/jobs/job_kind.h"
#include "server/jobs/job_state.h"
#include "server/scheduler/dispatcher.h"
#include "server/scheduler/dispatcher_section.h"

namespace slipway::server {
namespace {

constexpr v1::Job::State kLiveStates[] = {v1::Job::QUEUED, v1::Job::ASSIGNED, v1::Job::RUNNING};

constexpr std::pair<NeedKind, v1::WaitingSum::Need> kNeeds[] = {
    {NeedKind::kWorker, v1::WaitingSum::WORKER},
    {NeedKind::kNamedDevice, v1::WaitingSum::NAMED_DEVICE},
    {NeedKind::kAnyDevice, v1::WaitingSum::ANY_DEVICE}};

void AddRefusal(v1::ServerRefusal::Cause cause, std::string message, v1::ServerStatus* status) {
  v1::ServerRefusal& refusal = *status->add_refusals();
  refusal.set_cause(cause);
  refusal.set_message(std::move(message));
}

}  // namespace

void Dispatcher::SetLogLevelOfPeers(absl::string_view level) {
  Section section(this);
  log_level_of_peers_ = std::string(level);
  for (const auto& [key, peer] : peers_.peers()) changed_.push_back(key);
}

void Dispatcher::AddStatus(v1::ServerStatus* status) {
  if (const absl::Status refusal = writer_.refusal(); !refusal.ok()) {
    AddRefusal(
        v1::ServerRefusal::STORE,
        absl::StrCat("the database does not take what is written, which is tried again every "
                     "second: ",
                     refusal.message()),
        status);
  }
  absl::MutexLock lock(&mu_);
  const absl::Time wall = parts_.clock->Now();
  const absl::Duration now = parts_.clock->Monotonic();
  for (const v1::Job::Kind kind : kJobKinds) {
    for (const v1::Job::State state : kLiveStates) {
      const int64_t count = live_.CountOf(kind, state);
      if (count == 0) continue;
      v1::JobSum& sum = *status->add_jobs();
      sum.set_kind(std::string(KindName(kind)));
      sum.set_state(StateName(state));
      sum.set_count(count);
    }
  }
  for (const auto& [need, shown] : kNeeds) {
    const LiveJob* const first = live_.Find(live_.FirstWaitingFor(need));
    if (first == nullptr) continue;
    v1::WaitingSum& sum = *status->add_waiting();
    sum.set_need(shown);
    sum.set_count(live_.WaitingFor(need));
    sum.set_longest_ns(
        std::max<int64_t>(0, absl::ToUnixNanos(wall) - first->record.job().create_time_ns()));
  }
  status->set_max_queued_jobs(options_.max_queued_jobs);
  if (live_.size() >= options_.max_queued_jobs || live_.size_bytes() >= kMaxLiveSpecBytes) {
    AddRefusal(v1::ServerRefusal::QUEUE,
               absl::StrCat("the queue is full: ", live_.size(),
                            " jobs wait or run; --max-queued-jobs of the server allows more"),
               status);
  }
  for (const auto& [key, peer] : peers_.peers()) {
    const bool is_lost = peers_.table().IsLost(key, now);
    const auto held = static_cast<int64_t>(live_.AttemptsOf(key).size());
    const auto add_one = [](int64_t before) { return before + 1; };
    if (DeviceOf(peer) != nullptr) {
      if (is_lost) {
        status->set_devices_lost(add_one(status->devices_lost()));
      } else if (held > 0) {
        status->set_devices_busy(add_one(status->devices_busy()));
      } else {
        status->set_devices_idle(add_one(status->devices_idle()));
      }
    } else if (is_lost) {
      status->set_workers_lost(add_one(status->workers_lost()));
    } else {
      status->set_workers_present(add_one(status->workers_present()));
      status->set_worker_places(status->worker_places() + peer.capacity);
      status->set_worker_places_taken(status->worker_places_taken() + held);
    }
  }
  if (failed_starts_ >= kMaxFailedStarts) {
    AddRefusal(v1::ServerRefusal::WORKERS,
               absl::StrCat("of the server's own workers ", failed_starts_,
                            " in a row have ended before they were ready, the last so: ",
                            failed_start_, "; mend what --worker of the server names"),
               status);
  }
  *status->mutable_counters() = counters_;
}

}  // namespace slipway::server
