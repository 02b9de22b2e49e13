#include "server/scheduler/dispatcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "server/jobs/job_state.h"
#include "server/scheduler/dispatcher_section.h"

namespace slipway::server {
namespace {

// How often ended jobs and unseen devices are looked for.
constexpr absl::Duration kCleaning = absl::Minutes(1);
// Between ticks, so that a full disk does not make the server spin.
constexpr absl::Duration kRetryStore = absl::Seconds(1);
constexpr absl::Duration kShortestTick = absl::Milliseconds(1);

void LogTransition(const JobRecord& from, const JobRecord& to, const JobEvent& event,
                   absl::Time now) {
  const absl::Duration age = now - absl::FromUnixNanos(to.job().create_time_ns());
  Log(LogLevel::kInfo, "job",
      {{"id", to.job().id()},
       {"event", EventName(event.index())},
       {"from", StateName(from.job().state())},
       {"to", StateName(to.job().state())},
       {"assignee", to.job().assignee()},
       {"attempts", to.job().attempts()},
       {"age_ms", absl::ToInt64Milliseconds(age)}});
}

}  // namespace

Dispatcher::Dispatcher(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(options),
      started_at_(parts_.clock->Monotonic()),
      devices_(options.silence),
      workers_(options.silence),
      next_cleaning_(started_at_ + kCleaning) {}

absl::StatusOr<std::unique_ptr<Dispatcher>> Dispatcher::Create(Parts parts, Options options) {
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(std::move(parts), options));
  SLIPWAY_RETURN_IF_ERROR(dispatcher->Recover());
  return dispatcher;
}

absl::Status Dispatcher::Recover() {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<JobRecord> records, parts_.jobs->ListLive(),
                                "reading the jobs that have not ended");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<v1::Device> devices, parts_.devices->LoadDevices(),
                                "reading the known devices");
  Section section(this);
  for (const v1::Device& device : devices) devices_.Restore(device);
  for (JobRecord& record : records) live_.Put(std::move(record));
  for (const std::string& holder : live_.Holders()) {
    const absl::optional<std::string> worker = WorkerOfKey(holder);
    if (worker.has_value() && IsLocalWorkerId(*worker)) {
      LoseAttempts(holder, "the server restarted", /*counted=*/false);
    }
  }
  if (!records.empty()) Log(LogLevel::kInfo, "jobs taken up", {{"live", live_.size()}});
  return absl::OkStatus();
}

absl::Status Dispatcher::Transit(absl::string_view id, const JobEvent& event) {
  const LiveJob* live = live_.Find(id);
  if (live == nullptr) return absl::NotFoundError(absl::StrCat("job '", id, "' is not live"));
  const absl::Time now = parts_.clock->Now();
  absl::StatusOr<JobRecord> next = parts_.jobs->Transition(live->record, event, now);
  if (!next.ok()) {
    // A late or repeated report is no failure of the store.
    const bool refused = absl::IsAborted(next.status()) ||
                         absl::IsFailedPrecondition(next.status()) ||
                         absl::IsInvalidArgument(next.status());
    Log(refused ? LogLevel::kDebug : LogLevel::kError, "job not changed",
        {{"id", id}, {"event", EventName(event.index())}, {"why", next.status().ToString()}});
    if (!refused) store_failed_ = true;
    return next.status();
  }
  if (next->job().revision() == live->record.job().revision()) return absl::OkStatus();
  LogTransition(live->record, *next, event, now);
  changed_.push_back(JobKey(id));
  const Attempt before = live->record.attempt();
  const Attempt after = next->attempt();
  live_.Put(*std::move(next));
  if (before.id() != after.id()) {
    if (!before.id().empty()) {
      changed_.push_back(before.holder());
      if (live_.JobsOfAttempt(before.id()).empty()) assignments_.erase(before.id());
    }
    if (!after.id().empty()) changed_.push_back(after.holder());
  }
  return absl::OkStatus();
}

absl::Status Dispatcher::TransitAttempt(absl::string_view attempt_id, const JobEvent& event) {
  absl::Status first;
  for (const std::string& id : live_.JobsOfAttempt(attempt_id)) first.Update(Transit(id, event));
  return first;
}

void Dispatcher::LoseAttempts(absl::string_view holder, absl::string_view why, bool counted) {
  for (const std::string& attempt : live_.AttemptsOf(holder)) {
    if (TransitAttempt(attempt, AttemptLost{attempt, std::string(why), counted}).ok() && counted) {
      counters_.set_attempts_lost(counters_.attempts_lost() + 1);
    }
  }
}

void Dispatcher::LoseUnreported(absl::string_view holder,
                                const absl::btree_set<std::string>& reported,
                                absl::string_view instance_id, bool is_new_instance,
                                bool is_up_to_date) {
  for (const std::string& attempt : live_.AttemptsOf(holder)) {
    if (reported.contains(attempt)) continue;
    const std::vector<std::string> jobs = live_.JobsOfAttempt(attempt);
    const LiveJob* job = jobs.empty() ? nullptr : live_.Find(jobs.front());
    if (job == nullptr) continue;
    const bool restarted = is_new_instance && job->record.attempt().instance_id() != instance_id;
    if (!restarted && !is_up_to_date) continue;
    const std::string why = absl::StrCat(
        "'", job->record.job().assignee(), "' ",
        restarted ? "restarted during the attempt" : "does not hold the attempt any more");
    if (TransitAttempt(attempt, AttemptLost{attempt, why, true}).ok()) {
      counters_.set_attempts_lost(counters_.attempts_lost() + 1);
    }
  }
}

absl::StatusOr<JobRecord> Dispatcher::Accept(JobRecord record) {
  {
    absl::MutexLock lock(&mu_);
    if (live_.size() >= options_.max_queued_jobs || live_.size_bytes() >= kMaxLiveSpecBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the queue is full: ", live_.size(),
                       " jobs wait or run; try again when some have ended"));
    }
  }
  // Outside the lock: this waits for the disk.
  SLIPWAY_ASSIGN_OR_RETURN(JobStore::Created created, parts_.jobs->Create(std::move(record)));
  if (created.existed) return created.record;

  Section section(this);
  const std::string id = created.record.job().id();
  counters_.set_jobs_accepted(counters_.jobs_accepted() + 1);
  Log(LogLevel::kInfo, "job accepted",
      {{"id", id},
       {"request", created.record.job().request_id()},
       {"state", StateName(created.record.job().state())}});
  live_.Put(created.record);
  JoinGroup(id);
  Schedule();
  return created.record;
}

absl::StatusOr<v1::Job> Dispatcher::Cancel(absl::string_view id) {
  SLIPWAY_RETURN_IF_ERROR(CheckJobId(id));
  absl::Status status;
  {
    Section section(this);
    if (live_.Find(id) != nullptr) status = Transit(id, CancelRequested{});
    Schedule();
  }
  SLIPWAY_RETURN_IF_ERROR(status);
  SLIPWAY_ASSIGN_OR_RETURN(JobRecord record, parts_.jobs->Get(id));
  return std::move(*record.mutable_job());
}

absl::Duration Dispatcher::Tick() {
  Section section(this);
  next_tick_ = absl::InfiniteDuration();
  store_failed_ = false;
  PassDeadlines();
  LoseSilentHolders();
  Schedule();
  ForgetOldThings();
  const absl::Duration wait = UntilNextTick();
  next_tick_ = parts_.clock->Monotonic() + wait;
  return wait;
}

void Dispatcher::PassDeadlines() {
  const absl::Time now = parts_.clock->Now();
  while (absl::optional<LiveJobs::Due> due = live_.NextDeadline()) {
    if (due->time > now) return;
    const absl::optional<NextDeadline> deadline = DeadlineOf(live_.Find(due->id)->record);
    // A store that refuses now is asked again by the next tick.
    if (!Transit(due->id, DeadlinePassed{deadline->kind}).ok()) return;
  }
}

bool Dispatcher::IsHolderLost(absl::string_view holder) {
  const absl::Duration now = parts_.clock->Monotonic();
  const absl::optional<std::string> worker = WorkerOfKey(holder);
  const PeerTable& peers = worker.has_value() ? workers_.peers() : devices_.agents();
  const std::string id = worker.has_value() ? *worker : AgentOfKey(holder).value_or("");
  // Whoever was there before the server began is given time to come back.
  if (peers.Find(id) == nullptr) return now - started_at_ >= options_.silence;
  return peers.IsLost(id, now);
}

void Dispatcher::LoseSilentHolders() {
  for (const std::string& holder : live_.Holders()) {
    if (!IsHolderLost(holder)) continue;
    LoseAttempts(holder,
                 absl::StrCat(holder, " was silent for ", absl::FormatDuration(options_.silence)),
                 /*counted=*/true);
  }
}

void Dispatcher::ForgetOldThings() {
  if (parts_.clock->Monotonic() < next_cleaning_) return;
  next_cleaning_ = parts_.clock->Monotonic() + kCleaning;
  const absl::Time now = parts_.clock->Now();
  const absl::StatusOr<int64_t> deleted =
      parts_.jobs->DeleteEndedBefore(now - options_.job_retention);
  if (!deleted.ok()) {
    Log(LogLevel::kError, "ended jobs not forgotten", {{"why", deleted.status().ToString()}});
  } else if (*deleted > 0) {
    Log(LogLevel::kInfo, "ended jobs forgotten", {{"jobs", *deleted}});
  }
  workers_.ForgetUnseenSince(now - kWorkerRetention, parts_.clock->Monotonic());
  for (const std::string& id : devices_.ForgetUnseenSince(now - kDeviceRetention)) {
    Log(LogLevel::kInfo, "device forgotten", {{"device", id}});
    const absl::Status status = parts_.devices->DeleteDevice(id);
    if (!status.ok()) Log(LogLevel::kError, "device not forgotten", {{"why", status.ToString()}});
  }
}

absl::Duration Dispatcher::UntilNextTick() {
  const absl::Time wall = parts_.clock->Now();
  const absl::Duration now = parts_.clock->Monotonic();
  absl::Duration wait = next_cleaning_ - now;
  if (absl::optional<LiveJobs::Due> due = live_.NextDeadline())
    wait = std::min(wait, due->time - wall);
  if (absl::optional<absl::Time> next = live_.NextNotBefore(wall))
    wait = std::min(wait, *next - wall);
  for (const PeerTable* peers : {&devices_.agents(), &workers_.peers()}) {
    if (absl::optional<absl::Duration> loss = peers->NextLoss(now))
      wait = std::min(wait, *loss - now);
  }
  const absl::Duration returns = started_at_ + options_.silence - now;
  if (returns > absl::ZeroDuration()) wait = std::min(wait, returns);
  return std::max(wait, store_failed_ ? kRetryStore : kShortestTick);
}

std::vector<v1::Device> Dispatcher::Devices() {
  Section section(this);
  const absl::Duration now = parts_.clock->Monotonic();
  std::vector<v1::Device> shown;
  for (const auto& [id, device] : devices_.devices()) {
    shown.push_back(devices_.Show(device, now));
    for (const std::string& attempt : live_.AttemptsOf(AgentKey(device.agent_id))) {
      for (const std::string& job : live_.JobsOfAttempt(attempt)) {
        if (live_.Find(job)->record.job().assignee() != id) continue;
        shown.back().set_job_id(job);
        if (shown.back().state() != v1::Device::LOST) shown.back().set_state(v1::Device::BUSY);
      }
    }
  }
  return shown;
}

std::vector<v1::Worker> Dispatcher::Workers() {
  Section section(this);
  const absl::Duration now = parts_.clock->Monotonic();
  std::vector<v1::Worker> shown;
  for (const auto& [id, worker] : workers_.workers()) {
    v1::Worker& entry = shown.emplace_back();
    entry.set_id(id);
    entry.set_fingerprint(worker.targets.begin()->second);
    for (const auto& [family, fingerprint] : worker.targets) {
      v1::TargetSupport& target = *entry.add_targets();
      target.set_family(family);
      target.set_fingerprint(fingerprint);
    }
    entry.set_last_seen_ns(absl::ToUnixNanos(worker.last_seen));
    entry.set_lost(workers_.peers().IsLost(id, now));
    for (const std::string& attempt : live_.AttemptsOf(WorkerKey(id))) {
      for (const std::string& job : live_.JobsOfAttempt(attempt)) entry.add_job_ids(job);
    }
  }
  return shown;
}

absl::StatusOr<RegisteredDevice> Dispatcher::FindDevice(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  if (const RegisteredDevice* device = devices_.Find(id)) return *device;
  return absl::NotFoundError(
      absl::StrCat("no device '", id, "' is known; 'slipway devices' lists those that are"));
}

std::vector<RegisteredDevice> Dispatcher::RegisteredDevices() {
  absl::MutexLock lock(&mu_);
  std::vector<RegisteredDevice> all;
  for (const auto& [id, device] : devices_.devices()) all.push_back(device);
  return all;
}

int Dispatcher::CompilationsWanted() {
  absl::MutexLock lock(&mu_);
  return live_.CompilationsWanted();
}

TargetFingerprints Dispatcher::WorkersTargets() {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = parts_.clock->Monotonic();
  TargetFingerprints all;
  for (const auto& [id, worker] : workers_.workers()) {
    if (!workers_.peers().IsLost(id, now)) all.insert(worker.targets.begin(), worker.targets.end());
  }
  return all;
}

absl::flat_hash_set<Digest> Dispatcher::NeededBlobs() {
  absl::MutexLock lock(&mu_);
  return live_.NeededBlobs();
}

v1::ServerCounters Dispatcher::Counters() {
  absl::MutexLock lock(&mu_);
  return counters_;
}

void Dispatcher::CountCacheHit() {
  absl::MutexLock lock(&mu_);
  counters_.set_artifact_cache_hits(counters_.artifact_cache_hits() + 1);
}

}  // namespace slipway::server
