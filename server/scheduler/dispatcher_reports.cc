// Dispatcher: what peers report, and what they are told.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/wire/status_proto.h"
#include "server/jobs/job_contents.h"
#include "server/jobs/job_state.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/peers/benchmark_check.h"
#include "server/peers/protocol.h"
#include "server/scheduler/dispatcher.h"
#include "server/scheduler/dispatcher_section.h"

namespace slipway::server {
namespace {

// What a peer is told when the store refuses: it keeps its state and reports again.
absl::Status ReportNotStored(const absl::Status& status) {
  if (status.ok()) return status;
  return absl::UnavailableError(absl::StrCat("the report could not be stored: ", status.message()));
}

absl::Duration ReturnTime(int agents) {
  return std::min(agents * kReturnTimeOfAgent, kLongestReturnTime);
}

// Of a job that is no benchmark, as well.
int64_t MostSamples(const v1::BenchmarkSpec& spec) {
  constexpr int64_t kDefaultSamples = 100;
  return spec.samples() == 0 ? kDefaultSamples : spec.samples();
}

bool SameProgress(const v1::JobProgress& a, const v1::JobProgress& b) {
  return a.stage() == b.stage() && a.done() == b.done() && a.total() == b.total() &&
         a.silent_ns() == b.silent_ns();
}

}  // namespace

absl::Status Dispatcher::Reported(Report report, bool* is_new) {
  CheckResults(report);
  const std::string& peer = report.call.peer;
  Section section(this);
  const auto holds_lease = [this](absl::string_view other) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !live_.AttemptsOf(other).empty();
  };
  SLIPWAY_ASSIGN_OR_RETURN(
      const PeerRegistry::Taken taken,
      peers_.Take(report, parts_.clock->Now(), parts_.clock->Monotonic(), holds_lease));
  Forgotten(taken.forgotten);
  if (taken.kind == ReportKind::kOutdated) return absl::OkStatus();
  // An earlier call of this peer that is still parked has nothing left to wait for.
  changed_.push_back(peer);
  to_fill_.insert(peer);
  if (IsLocalWorker(peer)) failed_starts_ = 0;
  if (taken.kind == ReportKind::kNewInstance) {
    if (is_new != nullptr) *is_new = true;
    Log(LogLevel::kInfo, absl::StrCat(KindOfKey(peer), " came"),
        {{"id", IdOfKey(peer)}, {"address", report.call.address}, {"version", report.version}});
    if (IsLocalWorker(peer)) {
      const auto& targets = std::get<TargetFingerprints>(report.supply);
      if (parts_.local_targets) parts_.local_targets(targets);
      RekeyCompilations(targets);
    }
  }
  if (taken.device_changed) {
    writer_.PutDevice(peers_.ShowDevice(peer, parts_.clock->Monotonic()));
    MoveStanding(report.description.id(), DeviceChanged{}).IgnoreError();
  }
  if (taken.update_changed && !taken.device_changed) {
    writer_.PutDevice(peers_.ShowDevice(peer, parts_.clock->Monotonic()));
  }
  if (!taken.device_gone.empty()) writer_.DeleteDevice(taken.device_gone);
  // Before the leases are taken in: it has applied what was wanted until now, and has nothing else to stop first.
  const std::vector<std::string> wanted = live_.AttemptsOf(peer);
  const absl::btree_set<std::string>& active = peers_.Find(peer)->active;
  const bool is_up_to_date =
      report.applied_version == DesiredVersionOf(peer, wanted) &&
      std::includes(wanted.begin(), wanted.end(), active.begin(), active.end());
  for (LeaseReport& lease : report.leases) TakeLease(peer, lease, report.is_leaving);
  if (report.is_leaving) {
    LoseAttempts(peer, absl::StrCat(PeerName(peer), " went away"), /*counted=*/false);
    peers_.table().Left(peer);
  } else {
    LoseUnreported(report, taken.kind == ReportKind::kNewInstance, is_up_to_date);
  }
  // Whoever was told may make place for the next one now; most agents take no offers at all.
  if (taken.update_changed && OfferFor(peer) != nullptr) {
    PlanRollouts();
  } else if (taken.update_changed ||
             (taken.kind == ReportKind::kNewInstance && peers_.Find(peer)->update.has_value())) {
    PlanRolloutsSoon();
  }
  Schedule();
  return ReportNotStored(section.End());
}

void Dispatcher::CheckResults(Report& report) {
  for (LeaseReport& lease : report.leases) {
    if (lease.stage != LeaseReport::Stage::kSucceeded || !lease.result.has_value()) continue;
    CompilationFacts facts;
    v1::Digest program;
    int64_t most_samples = 0;
    {
      absl::MutexLock lock(&mu_);
      const LiveJob* job = HeldBy(report.call.peer, lease.id);
      if (job == nullptr) continue;  // Late; it is not taken in.
      facts = job->record.compilation();
      program = job->record.job().run().manifest();
      most_samples = MostSamples(job->record.job().benchmark());
    }
    absl::Status status;
    if (auto* compiled = std::get_if<v1::CompilationResult>(&*lease.result)) {
      compiled->set_cached(false);
      status = parts_.artifacts->Admit(facts, IdOfKey(report.call.peer), compiled);
    } else if (const auto* run = std::get_if<v1::RunResult>(&*lease.result)) {
      status = parts_.artifacts->CheckOutputs(program, *run);
    } else if (const auto* benchmark = std::get_if<v1::BenchmarkResult>(&*lease.result)) {
      status = CheckBenchmark(*benchmark, most_samples);
      if (!status.ok()) {
        status = absl::InternalError(
            absl::StrCat(PeerName(report.call.peer),
                         " reported a benchmark that cannot be: ", status.message()));
        Log(LogLevel::kWarning, "a result is refused",
            {{"attempt", lease.id}, {"why", status.message()}});
      }
    }
    if (status.ok()) continue;
    lease.stage = LeaseReport::Stage::kFailed;
    lease.error = ToProto(status, "");
    // What lied would do so again.
    lease.retriable = !std::holds_alternative<v1::BenchmarkResult>(*lease.result);
  }
}

const LiveJob* Dispatcher::HeldBy(absl::string_view peer, absl::string_view lease) {
  const std::vector<std::string> jobs = live_.JobsOfAttempt(lease);
  if (jobs.empty()) return nullptr;
  const LiveJob* job = live_.Find(jobs.front());
  return job->record.lease().holder() == peer ? job : nullptr;
}

void Dispatcher::TakeLease(absl::string_view peer, LeaseReport& lease, bool is_leaving) {
  const LiveJob* live = HeldBy(peer, lease.id);
  // Late: the job has ended or another attempt goes on.
  if (live == nullptr) return;
  const v1::Job& job = live->record.job();
  const std::string& id = lease.id;
  switch (lease.stage) {
    case LeaseReport::Stage::kUnknown:
    case LeaseReport::Stage::kPreparing:
      return;
    case LeaseReport::Stage::kRunning:
      if (lease.progress.has_value() && !SameProgress(*lease.progress, job.progress())) {
        TransitAttempt(id, Progressed{id, *lease.progress});
      } else {
        TransitAttempt(id, Started{id});
      }
      return;
    case LeaseReport::Stage::kSucceeded: {
      if (!lease.result.has_value() || !IsResultOf(job, *lease.result)) {
        const absl::Status bad = absl::InternalError(
            absl::StrCat(PeerName(peer), " reported a result of another kind than the job's"));
        TransitAttempt(id, AttemptFailed{id, ToProto(bad, ""), true});
        return;
      }
      if (const auto* compiled = std::get_if<v1::CompilationResult>(&*lease.result)) {
        const v1::CompileReport& made = compiled->report();
        counters_.set_kernels_compiled(counters_.kernels_compiled() + made.kernels_compiled());
        counters_.set_kernels_cached(counters_.kernels_cached() + made.kernels_cached());
      }
      TransitAttempt(id, AttemptSucceeded{id, *std::move(lease.result)});
      return;
    }
    case LeaseReport::Stage::kFailed:
      TransitAttempt(id, AttemptFailed{id, lease.error, lease.retriable});
      return;
    case LeaseReport::Stage::kStopped:
      TransitAttempt(id, AttemptLost{id, absl::StrCat("'", job.assignee(), "' stopped the attempt"),
                                     /*counted=*/!is_leaving});
      return;
  }
}

void Dispatcher::LoseUnreported(const Report& report, bool is_new_instance, bool is_up_to_date) {
  absl::btree_set<std::string> reported;
  for (const LeaseReport& lease : report.leases) reported.insert(lease.id);
  for (const std::string& attempt : live_.AttemptsOf(report.call.peer)) {
    if (reported.contains(attempt)) continue;
    const LiveJob* job = HeldBy(report.call.peer, attempt);
    if (job == nullptr) continue;
    const bool restarted =
        is_new_instance && job->record.lease().instance_id() != report.call.instance_id;
    if (!restarted && !is_up_to_date) continue;
    const std::string why = absl::StrCat(
        "'", job->record.job().assignee(), "' ",
        restarted ? "restarted during the attempt" : "does not hold the attempt any more");
    if (TransitAttempt(attempt, AttemptLost{attempt, why, true})) {
      counters_.set_attempts_lost(counters_.attempts_lost() + 1);
    }
  }
}

absl::StatusOr<DesiredState> Dispatcher::DesiredOf(const PeerCall& call) {
  while (true) {
    DesiredState desired;
    std::vector<JobRecord> unmade;
    {
      Section section(this);
      const Peer* peer = peers_.table().Find(call.peer);
      if (peer == nullptr || peer->instance_id != call.instance_id ||
          peer->sequence > call.sequence) {
        return absl::AbortedError(
            absl::StrCat("a later report of ", PeerName(call.peer), " has come"));
      }
      const std::vector<std::string> attempts = live_.AttemptsOf(call.peer);
      for (const std::string& attempt : attempts) {
        const auto made = assignments_.find(attempt);
        if (made != assignments_.end()) {
          desired.leases.push_back(made->second);
        } else {
          unmade.push_back(HeldBy(call.peer, attempt)->record);
        }
      }
      desired.version = DesiredVersionOf(call.peer, attempts);
      desired.offer = OfferFor(call.peer);
      desired.log_level = log_level_of_peers_;
      desired.silence = options_.silence;
      desired.return_within = ReturnTime(peers_.table().size());
      SLIPWAY_RETURN_IF_ERROR(ReportNotStored(section.End()));
    }
    if (unmade.empty()) return desired;
    for (const JobRecord& record : unmade) MakeAssignment(record);
  }
}

void Dispatcher::MakeAssignment(const JobRecord& record) {
  const v1::Job& job = record.job();
  const std::string& id = record.lease().id();
  auto made = std::make_shared<Assignment>();
  made->id = id;
  made->job_id = job.id();
  made->request_id = job.request_id();
  made->assignee = job.assignee();
  made->deadline_ns = record.lease().deadline_ns();
  made->compile_key = record.compilation().compile_key();
  v1::Job copy = job;
  MoveSpec(copy, made->spec);
  absl::Status status;
  if (made->spec.has_run()) {
    status = parts_.artifacts->FillAssignment(made->spec.run(), job.owner(), &made->along);
  } else if (made->spec.has_benchmark()) {
    status =
        parts_.artifacts->FillAssignment(made->spec.benchmark().run(), job.owner(), &made->along);
  } else if (made->spec.has_session()) {
    v1::SessionLease& lease = *made->along.mutable_session();
    lease.set_session(job.id());
    lease.set_ticket(record.session().ticket());
    lease.set_idle_ns(job.session().idle_ns());
  }
  Section section(this);
  if (live_.JobsOfAttempt(id).empty()) return;  // It ended meanwhile.
  if (status.ok()) {
    assignments_[id] = std::move(made);
  } else {
    // What is stored cannot be given out; no other attempt would fare better.
    TransitAttempt(id, AttemptFailed{id, ToProto(status, ""), false});
    Schedule();
  }
}

void Dispatcher::CallBegan(const PeerCall& call) {
  Section section(this);
  peers_.table().CallBegan(call.peer, call.instance_id);
  section.EndUntold();
}

void Dispatcher::CallEnded(const PeerCall& call) {
  Section section(this);
  peers_.table().CallEnded(call.peer, call.instance_id, parts_.clock->Monotonic());
  section.EndUntold();
}

void Dispatcher::LocalWorkerEnded(absl::string_view worker_id, absl::string_view why,
                                  absl::string_view last_words, bool counted) {
  const std::string peer = WorkerKey(worker_id);
  Section section(this);
  if (counted && peers_.Find(peer) == nullptr) {
    ++failed_starts_;
    failed_start_ = std::string(why);
    last_words_ = std::string(last_words.substr(
        last_words.size() - std::min<size_t>(last_words.size(), kMaxLastWordsBytes)));
  }
  LoseAttempts(peer, why, counted);
  peers_.Forget(peer);
  GiveUpCompilations(live_.QueuedCompilations());
  Schedule();
}

}  // namespace slipway::server
