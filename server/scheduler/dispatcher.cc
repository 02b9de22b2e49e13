#include "server/scheduler/dispatcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/selector/explanation.h"
#include "server/history/history_entry.h"
#include "server/jobs/job_contents.h"
#include "server/jobs/job_state.h"
#include "server/jobs/shown_lease.h"
#include "server/scheduler/dispatcher_section.h"

namespace slipway::server {
namespace {

// How often ended jobs and unseen devices are looked for.
constexpr absl::Duration kCleaning = absl::Minutes(1);
// How long a store that refused is left alone, if nobody asks.
constexpr absl::Duration kRetryStore = absl::Seconds(1);
constexpr absl::Duration kShortestTick = absl::Milliseconds(1);
// Devices wanted, by selectors mostly, of which is remembered where they were found.
constexpr size_t kMaxFitting = 256;
// How many are reserved at a time: none run out between two cleanings.
constexpr int64_t kRevisions = int64_t{1} << 32;

void LogTransition(const JobRecord& from, const JobRecord& to, const JobEvent& event,
                   absl::Time now) {
  const absl::Duration age = now - absl::FromUnixNanos(to.job().create_time_ns());
  Log(LogLevel::kInfo, "job",
      {{"id", to.job().id()},
       {"event", EventName(event.index())},
       {"from", StateName(from.job().state())},
       {"to", StateName(to.job().state())},
       {"assignee", to.job().assignee()},
       {"attempt", to.has_lease() ? to.lease().id() : from.lease().id()},
       {"attempts", to.job().attempts()},
       {"age_ms", absl::ToInt64Milliseconds(age)},
       {"request", to.job().request_id()}});
}

// The same, but for its job's specification.
JobRecord WithoutSpec(JobRecord& record) {
  v1::Job spec;
  MoveSpec(*record.mutable_job(), spec);
  JobRecord rest = record;
  MoveSpec(spec, *record.mutable_job());
  return rest;
}

}  // namespace

Dispatcher::Dispatcher(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(options),
      started_at_(parts_.clock->Monotonic()),
      writer_(
          parts_.jobs, parts_.devices,
          [this](absl::string_view id, absl::optional<JobRecord> stored) {
            Overtaken(id, std::move(stored));
          },
          parts_.clock, [this](DeviceStanding stored) { StandingOvertaken(std::move(stored)); }),
      used_time_({{HeldKind::kWorker, UsedTime(kUsedTimeWindow)},
                  {HeldKind::kDevice, UsedTime(kUsedTimeWindow)}}),
      peers_(options.silence),
      next_probes_(started_at_),
      next_cleaning_(started_at_ + kCleaning) {}

absl::StatusOr<std::unique_ptr<Dispatcher>> Dispatcher::Create(Parts parts, Options options) {
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(std::move(parts), options));
  SLIPWAY_RETURN_IF_ERROR(dispatcher->Recover());
  return dispatcher;
}

absl::Status Dispatcher::Recover() {
  SLIPWAY_RETURN_IF_ERROR_WITH(ReserveRevisions(), "reserving revisions of jobs");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<JobRecord> records, parts_.jobs->ListLive(),
                                "reading the jobs that have not ended");
  SLIPWAY_RETURN_IF_ERROR(RecoverDevices());
  SLIPWAY_RETURN_IF_ERROR_WITH(RecoverUsedTime(), "reading the jobs that have ended");
  Section section(this);
  for (JobRecord& record : records) live_.Put(std::move(record));
  for (const std::string& holder : live_.Holders()) {
    if (IsLocalWorker(holder)) LoseAttempts(holder, "the server restarted", /*counted=*/false);
  }
  if (!records.empty()) Log(LogLevel::kInfo, "jobs taken up", {{"live", live_.size()}});
  return absl::OkStatus();
}

absl::Status Dispatcher::RecoverUsedTime() {
  if (std::min(options_.compile_time_of_owner, options_.device_time_of_owner) ==
      absl::InfiniteDuration()) {
    return absl::OkStatus();
  }
  absl::MutexLock lock(&mu_);
  return parts_.jobs->ForEachEndedSince(parts_.clock->Now() - kUsedTimeWindow,
                                        [this](const EndedJob& job)
                                            ABSL_NO_THREAD_SAFETY_ANALYSIS { CountUsedTime(job); });
}

void Dispatcher::CountUsedTime(const EndedJob& job) {
  if (TimeOfOwner(job.held_kind) == absl::InfiniteDuration()) return;
  used_time_.at(job.held_kind).Add(job.owner, job.end, job.held);
}

absl::Status Dispatcher::CheckUsedTime(const JobRecord& record) {
  const std::string& owner = record.job().owner();
  const HeldKind kind = HeldKindOf(record);
  const absl::Duration limit = TimeOfOwner(kind);
  // One that has ended, by the artifact cache, takes none.
  if (limit == absl::InfiniteDuration() || IsTerminal(record.job().state())) {
    return absl::OkStatus();
  }
  const absl::Time now = parts_.clock->Now();
  const UsedTime& ended = used_time_.at(kind);
  const absl::Duration live = live_.HeldTime(owner, kind, now);
  const absl::Duration used = ended.Of(owner, now) + live;
  if (used < limit) return absl::OkStatus();
  const absl::Time room = ended.WhenBelow(owner, limit - live, now);
  const auto text = [](absl::Duration time) {
    return absl::FormatDuration(absl::Ceil(time, absl::Seconds(1)));
  };
  return absl::ResourceExhaustedError(absl::StrCat(
      "your ",
      kind == HeldKind::kWorker ? "compilations have used " : "jobs have held devices for ",
      text(used), " of the last ", text(kUsedTimeWindow), "; at most ", text(limit),
      " are yours: there is room again ",
      room == absl::InfiniteFuture() ? "when what runs has ended, and some of it is that long ago"
                                     : absl::StrCat("in ", text(room - now), " at the earliest")));
}

absl::Status Dispatcher::ReserveRevisions() {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t first, parts_.jobs->ReserveRevisions(kRevisions));
  absl::MutexLock lock(&mu_);
  if (first >= end_of_revisions_) {
    next_revision_ = first;
    end_of_revisions_ = first + kRevisions;
  }
  return absl::OkStatus();
}

int64_t Dispatcher::NextRevision() {
  SLIPWAY_CHECK(next_revision_ < end_of_revisions_, "revisions have run out");
  return next_revision_++;
}

bool Dispatcher::Transit(absl::string_view id, const JobEvent& event) {
  const LiveJob* live = live_.Find(id);
  if (live == nullptr) return false;
  const JobRecord& from = live->record;
  const absl::Time now = parts_.clock->Now();
  absl::StatusOr<JobRecord> next = Apply(from, event, now);
  if (!next.ok()) {
    Log(LogLevel::kDebug, "job not changed",
        {{"id", id},
         {"event", EventName(event.index())},
         {"why", next.status().ToString()},
         {"request", from.job().request_id()}});
    return false;
  }
  if (RuleFor(from.job().state(), event.index()) == Rule::kStay) return true;
  LogTransition(from, *next, event, now);
  tally_.Moved(from, *next, now);
  changed_.push_back(JobKey(id));
  const Lease before = from.lease();
  const Lease after = next->lease();
  const int64_t replaces = from.job().revision();
  next->mutable_job()->set_revision(NextRevision());
  if (IsTerminal(next->job().state()) && !next->is_probe()) CountUsedTime(EndedJobOf(*next));
  const std::string device = from.job().assignee();
  const absl::optional<StandingEvent> judged = JudgeAttempt(from, event);
  absl::optional<JobRecord> probe;
  if (next->is_probe()) {
    if (IsTerminal(next->job().state())) probe = *next;
  } else {
    absl::optional<v1::HistoryEntry> entry;
    if (next->job().has_benchmark_result()) entry = EntryOf(from.lease().holder(), *next);
    writer_.Put({.record = WithoutSpec(*next), .replaces = replaces, .entry = std::move(entry)});
  }
  live_.Put(*std::move(next));
  if (before.id() != after.id()) {
    if (!before.id().empty()) {
      changed_.push_back(before.holder());
      to_fill_.insert(before.holder());
      if (live_.JobsOfAttempt(before.id()).empty()) assignments_.erase(before.id());
    }
    if (!after.id().empty()) changed_.push_back(after.holder());
  }
  if (judged.has_value()) MoveStanding(device, *judged).IgnoreError();
  if (probe.has_value()) ProbeEnded(*probe);
  return true;
}

v1::HistoryEntry Dispatcher::EntryOf(absl::string_view holder, const JobRecord& record) {
  const RegisteredPeer* const agent = peers_.Find(holder);
  if (agent != nullptr) return BeginEntry(record, agent->description, agent->version);
  v1::DeviceDescription device;
  device.set_id(record.job().assignee());
  return BeginEntry(record, device, "");
}

bool Dispatcher::TransitAttempt(absl::string_view attempt_id, const JobEvent& event) {
  bool all = true;
  for (const std::string& id : live_.JobsOfAttempt(attempt_id)) all = Transit(id, event) && all;
  return all;
}

void Dispatcher::Overtaken(absl::string_view id, absl::optional<JobRecord> stored) {
  Log(LogLevel::kWarning, "job changed by another server", {{"id", id}});
  const absl::Status reserved = ReserveRevisions();
  if (!reserved.ok()) {
    Log(LogLevel::kError, "no revisions reserved", {{"why", reserved.ToString()}});
  }
  std::vector<std::string> changed = {JobKey(id)};
  {
    absl::MutexLock lock(&mu_);
    writer_.Drop(id);
    const LiveJob* live = live_.Find(id);
    if (live != nullptr && live->record.has_lease()) {
      changed.push_back(live->record.lease().holder());
      assignments_.erase(live->record.lease().id());
    }
    if (stored.has_value()) {
      live_.Put(*std::move(stored));
    } else {
      live_.Forget(id);
    }
  }
  parts_.hub->Notify(changed);
}

absl::Duration Dispatcher::StoreRefused(const absl::Status& status, std::vector<std::string> keys) {
  Log(LogLevel::kError, "changes not stored", {{"why", status.ToString()}});
  absl::MutexLock lock(&mu_);
  changed_.insert(changed_.end(), keys.begin(), keys.end());
  next_tick_ = std::min(next_tick_, parts_.clock->Monotonic() + kRetryStore);
  return kRetryStore;
}

void Dispatcher::LoseAttempts(absl::string_view holder, absl::string_view why, bool counted) {
  for (const std::string& attempt : live_.AttemptsOf(holder)) {
    if (TransitAttempt(attempt, AttemptLost{attempt, std::string(why), counted}) && counted) {
      counters_.set_attempts_lost(counters_.attempts_lost() + 1);
    }
  }
}

absl::StatusOr<JobRecord> Dispatcher::Accept(const Caller& caller, JobRecord record) {
  {
    absl::MutexLock lock(&mu_);
    if (live_.size() >= options_.max_queued_jobs || live_.size_bytes() >= kMaxLiveSpecBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the queue is full: ", live_.size(),
                       " jobs wait or run; try again when some have ended"));
    }
    const int64_t bytes = live_.bytes_of_owner(caller.owner);
    if (bytes >= options_.max_live_bytes_of_owner) {
      return absl::ResourceExhaustedError(
          absl::StrCat("your jobs that wait or run have ", bytes,
                       " bytes of inputs with them; at most ", options_.max_live_bytes_of_owner,
                       ": try again when some have ended, or send inputs as blobs"));
    }
    SLIPWAY_RETURN_IF_ERROR(CheckUsedTime(record));
    record.mutable_job()->set_revision(NextRevision());
  }
  absl::StatusOr<JobWriter::Created> stored = writer_.Create(std::move(record));
  Section section(this);  // Also when the store refused: from now on it is tried.
  SLIPWAY_ASSIGN_OR_RETURN(JobWriter::Created created, std::move(stored));
  if (created.existed) return created.record;
  const std::string id = created.record.job().id();
  counters_.set_jobs_accepted(counters_.jobs_accepted() + 1);
  tally_.Accepted(created.record.job());
  Log(LogLevel::kInfo, "job accepted",
      {{"id", id},
       {"request", created.record.job().request_id()},
       {"owner", caller.owner},
       {"address", caller.address},
       {"call", caller.request_id},
       {"state", StateName(created.record.job().state())}});
  live_.Put(created.record);
  if (created.record.has_compilation() && live_.waiting().Contains(id)) GiveUpCompilations({id});
  JoinGroup(id);
  Schedule();
  return created.record;
}

absl::StatusOr<v1::Job> Dispatcher::Cancel(const Caller& caller, absl::string_view id) {
  SLIPWAY_RETURN_IF_ERROR(CheckJobId(id));
  {
    Section section(this);
    const LiveJob* live = live_.Find(id);
    if (live != nullptr && live->record.is_probe()) return NoSuchJob(id);
    if (live != nullptr && MayTouch(caller, live->record.job().owner())) {
      Transit(id, CancelRequested{.by = absl::StrCat(caller.owner, " at ", caller.address)});
      Schedule();
    }
    const absl::Status stored = section.End();
    if (!stored.ok()) {
      return absl::UnavailableError(
          absl::StrCat("the end of the job could not be stored yet: ", stored.message()));
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(JobRecord record, parts_.jobs->Get(id));
  if (!MayTouch(caller, record.job().owner())) return NoSuchJob(id);
  return std::move(*record.mutable_job());
}

void Dispatcher::Release(absl::string_view session) {
  Section section(this);
  Transit(session, CancelRequested{});
  Schedule();
}

absl::Duration Dispatcher::Tick() {
  bool cleans = false;
  {
    Section section(this);
    const absl::Duration now = parts_.clock->Monotonic();
    // Called for what has been done since; the call for what is due next comes.
    if (now < next_tick_) return next_tick_ - now;
    next_tick_ = absl::InfiniteDuration();
    PassDeadlines();
    LoseSilentHolders();
    PassEdges();
    LookForProbes();
    if (now >= next_plan_) PlanRollouts();
    Schedule();
    cleans = now >= next_cleaning_;
    if (cleans) {
      next_cleaning_ = now + kCleaning;
      ForgetOldPeers();
      PlanRolloutsSoon();
      ForgetReservations();
      for (auto& [kind, used] : used_time_) used.Forget(parts_.clock->Now());
    }
  }
  if (cleans) ForgetOldJobs();
  if (!writer_.refusal().ok()) writer_.TryStore();
  absl::MutexLock lock(&mu_);
  return next_tick_ - parts_.clock->Monotonic();
}

void Dispatcher::PassDeadlines() {
  const absl::Time now = parts_.clock->Now();
  while (absl::optional<LiveJobs::Due> due = live_.NextDeadline()) {
    if (due->time > now) return;
    const absl::optional<NextDeadline> deadline = DeadlineOf(live_.Find(due->id)->record);
    SLIPWAY_CHECK(Transit(due->id, DeadlinePassed{deadline->kind}),
                  "a live job passed no deadline");
  }
}

bool Dispatcher::IsHolderLost(absl::string_view holder) {
  const absl::Duration now = parts_.clock->Monotonic();
  // Whoever was there before the server began is given time to come back.
  if (peers_.table().Find(holder) == nullptr) return now - started_at_ >= options_.silence;
  return peers_.table().IsLost(holder, now);
}

void Dispatcher::LoseSilentHolders() {
  for (const std::string& holder : live_.Holders()) {
    if (!IsHolderLost(holder)) continue;
    LoseAttempts(holder,
                 absl::StrCat(holder, " was silent for ", absl::FormatDuration(options_.silence)),
                 /*counted=*/true);
  }
}

void Dispatcher::ForgetOldPeers() {
  Forgotten(peers_.ForgetUnseen(parts_.clock->Now(), parts_.clock->Monotonic()));
}

void Dispatcher::Forgotten(const std::vector<PeerRegistry::Forgotten>& forgotten) {
  for (const auto& [peer, device] : forgotten) {
    to_fill_.erase(peer);
    free_.Erase(peer);
    if (device.empty()) continue;
    probed_.erase(device);
    Log(LogLevel::kInfo, "device forgotten", {{"device", device}});
    writer_.DeleteDevice(device);
  }
}

void Dispatcher::ForgetOldJobs() {
  const auto log = [](absl::string_view what, absl::string_view why,
                      const absl::StatusOr<int64_t>& deleted) {
    if (!deleted.ok()) {
      Log(LogLevel::kError, absl::StrCat(what, " not forgotten"),
          {{"why", deleted.status().ToString()}});
    } else if (*deleted > 0) {
      Log(LogLevel::kInfo, absl::StrCat(what, " forgotten"), {{"number", *deleted}, {"for", why}});
    }
  };
  log("ended jobs", "age",
      parts_.jobs->DeleteEndedBefore(parts_.clock->Now() - options_.job_retention));
  log("ended jobs", "room", parts_.jobs->DeleteEndedBeyond(options_.max_ended_bytes_of_owner));
  log("oldest of the history", "room",
      parts_.history->DropHistoryBeyond(options_.max_history_entries_of_owner,
                                        kMaxHistoryBytesOfOwner));
  {
    absl::MutexLock lock(&mu_);
    if (end_of_revisions_ - next_revision_ > kRevisions / 2) return;
  }
  const absl::Status reserved = ReserveRevisions();
  if (!reserved.ok()) {
    Log(LogLevel::kError, "no revisions reserved", {{"why", reserved.ToString()}});
  }
}

absl::optional<absl::Duration> Dispatcher::EarlierTick() {
  const absl::Duration wait = UntilNextTick();
  const absl::Duration at = parts_.clock->Monotonic() + wait;
  if (at >= next_tick_) return absl::nullopt;
  next_tick_ = at;
  return wait;
}

absl::Duration Dispatcher::UntilNextTick() {
  const absl::Time wall = parts_.clock->Now();
  const absl::Duration now = parts_.clock->Monotonic();
  absl::Duration wait = std::min(next_cleaning_, next_plan_) - now;
  if (absl::optional<LiveJobs::Due> due = live_.NextDeadline())
    wait = std::min(wait, due->time - wall);
  if (absl::optional<absl::Time> next = live_.waiting().NextRelease())
    wait = std::min(wait, *next - wall);
  if (absl::optional<absl::Time> edge = reservations_.NextEdge(edges_passed_))
    wait = std::min(wait, *edge - wall);
  if (MakesProbes()) wait = std::min(wait, next_probes_ - now);
  if (absl::optional<absl::Duration> loss = peers_.table().NextLoss(now))
    wait = std::min(wait, *loss - now);
  // Whoever asks is told that the store refuses until it does not.
  if (!writer_.refusal().ok()) wait = std::min(wait, kRetryStore);
  const absl::Duration returns = started_at_ + options_.silence - now;
  if (returns > absl::ZeroDuration()) wait = std::min(wait, returns);
  return std::max(wait, kShortestTick);
}

std::vector<v1::Device> Dispatcher::Devices(const Caller& caller) {
  Section section(this);
  std::vector<v1::Device> shown;
  for (const auto& [key, peer] : peers_.peers()) {
    if (DeviceOf(peer) == nullptr) continue;
    v1::Device& device = shown.emplace_back(peers_.ShowDevice(key, parts_.clock->Monotonic()));
    for (const std::string& job : JobsHeldBy(key)) {
      const JobRecord& record = live_.Find(job)->record;
      if (record.job().assignee() != device.description().id()) continue;
      const bool is_named = MayTouch(caller, record.job().owner()) && !record.is_probe();
      if (is_named) device.set_job_id(job);
      *device.mutable_lease() = ShowLease(record, is_named);
      if (device.state() != v1::Device::LOST) device.set_state(v1::Device::BUSY);
    }
    ShowAvailability(caller, &device);
    ShowHealth(&device);
    if (const auto offer = OfferFor(key); offer != nullptr) {
      device.set_offered_version(offer->offer().version());
    }
  }
  std::sort(shown.begin(), shown.end(), [](const v1::Device& a, const v1::Device& b) {
    return a.description().id() < b.description().id();
  });
  return shown;
}

std::vector<v1::Worker> Dispatcher::Workers(const Caller& caller) {
  Section section(this);
  std::vector<v1::Worker> shown;
  for (const auto& [key, peer] : peers_.peers()) {
    if (DeviceOf(peer) != nullptr) continue;
    v1::Worker& worker = shown.emplace_back(peers_.ShowWorker(key, parts_.clock->Monotonic()));
    for (const std::string& job : JobsHeldBy(key)) {
      if (MayTouch(caller, live_.Find(job)->record.job().owner())) worker.add_job_ids(job);
    }
  }
  return shown;
}

std::vector<std::string> Dispatcher::JobsHeldBy(absl::string_view peer) {
  std::vector<std::string> all;
  for (const std::string& attempt : live_.AttemptsOf(peer)) {
    for (std::string& job : live_.JobsOfAttempt(attempt)) all.push_back(std::move(job));
  }
  return all;
}

absl::Status Dispatcher::CheckSomeDeviceFits(const DeviceNeed& need) {
  absl::MutexLock lock(&mu_);
  if (!need.device.empty() && !need.selector.has_value()) {
    const std::string agent = peers_.AgentOfDevice(need.device);
    if (agent.empty()) return NoSuchDevice(need.device);
    return Annotate(CheckCanRun(need.program, DeviceOf(*peers_.Find(agent))->offer),
                    absl::StrCat("device '", need.device, "'"));
  }
  // The next job mostly goes where the last one with this need could.
  const RegisteredPeer* hint = peers_.Find(fitting_[need.device]);
  if (hint != nullptr && Fits(need, *DeviceOf(*hint))) return absl::OkStatus();
  if (fitting_.size() > kMaxFitting) fitting_.clear();
  absl::Status last;
  for (const auto& [key, peer] : peers_.peers()) {
    const DeviceSupply* supply = DeviceOf(peer);
    if (supply == nullptr || !IsMeant(need, *supply)) continue;
    const absl::Status status = CheckCanRun(need.program, supply->offer);
    if (status.ok()) {
      fitting_[need.device] = key;
      return status;
    }
    last = Annotate(status,
                    absl::StrCat("no device ", need.selector.has_value() ? "that matches " : "",
                                 need.device, need.selector.has_value() ? " " : "",
                                 "can run it; device '", supply->device, "'"));
  }
  if (!need.selector.has_value() || !last.ok()) return last;
  std::vector<Reason> reasons;
  for (const auto& [key, peer] : peers_.peers()) {
    const DeviceSupply* supply = DeviceOf(peer);
    if (supply != nullptr) reasons.push_back(*need.selector->WhyNot(*supply->attributes));
  }
  return absl::NotFoundError(ExplainNone(need.device, reasons));
}

absl::StatusOr<Labels> Dispatcher::ChangeLabels(const Caller& caller, absl::string_view device,
                                                const Labels& given,
                                                absl::Span<const std::string> removed) {
  Section section(this);
  SLIPWAY_ASSIGN_OR_RETURN(const Labels labels, peers_.ChangeLabels(device, given, removed));
  const std::string agent = peers_.AgentOfDevice(device);
  writer_.PutDevice(peers_.ShowDevice(agent, parts_.clock->Monotonic()));
  Log(LogLevel::kInfo, "device labelled",
      {{"device", device},
       {"labels", absl::StrJoin(labels, " ", absl::PairFormatter("="))},
       {"by", caller.owner}});
  // Jobs may have waited for a device with such labels, and so may offers.
  to_fill_.insert(agent);
  PlanRollouts();
  Schedule();
  const absl::Status stored = section.End();
  if (!stored.ok()) {
    return absl::UnavailableError(
        absl::StrCat("the labels could not be stored yet: ", stored.message()));
  }
  return labels;
}

int Dispatcher::CompilationsWanted() {
  absl::MutexLock lock(&mu_);
  return Demand();
}

int Dispatcher::Demand() {
  return std::max(live_.CompilationsWanted(), failed_starts_ >= kMaxFailedStarts ? 1 : 0);
}

TargetFingerprints Dispatcher::WorkersTargets() {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = parts_.clock->Monotonic();
  TargetFingerprints all;
  for (const auto& [key, peer] : peers_.peers()) {
    const auto* targets = std::get_if<TargetFingerprints>(&peer.supply);
    if (targets == nullptr || peers_.table().IsLost(key, now)) continue;
    all.insert(targets->begin(), targets->end());
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
