// Dispatcher: giving waiting jobs to devices and workers.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/compile_key.h"
#include "core/wire/status_proto.h"
#include "server/jobs/job_state.h"
#include "server/scheduler/dispatcher.h"
#include "server/scheduler/scheduler.h"

namespace slipway::server {
namespace {

const v1::RunSpec& RunOf(const v1::Job& job) {
  return job.has_benchmark() ? job.benchmark().run() : job.run();
}

// What an attempt may take: the job's run deadline, or what is left of its total one.
absl::Duration AttemptDeadline(const v1::Job& job, absl::Time now) {
  const absl::Time end =
      absl::FromUnixNanos(job.create_time_ns()) + absl::Nanoseconds(job.deadlines().total_ns());
  return std::max(absl::Milliseconds(1),
                  std::min(absl::Nanoseconds(job.deadlines().run_ns()), end - now));
}

// Valid until a job changes.
std::vector<RunCandidate> RunCandidates(const LiveJobs& live) {
  std::vector<RunCandidate> candidates;
  for (const std::string& id : live.queued_runs()) {
    const LiveJob& job = *live.Find(id);
    if (job.program.target.devices.empty()) continue;
    candidates.push_back({.job_id = id,
                          .device = RunOf(job.record.job()).device(),
                          .program = &job.program,
                          .not_before = absl::FromUnixNanos(job.record.not_before_ns())});
  }
  return candidates;
}

}  // namespace

void Dispatcher::Schedule() {
  ScheduleRuns();
  ScheduleCompilations();
}

void Dispatcher::ScheduleRuns() {
  if (live_.queued_runs().empty()) return;
  const absl::Time now = parts_.clock->Now();
  const absl::Duration monotonic = parts_.clock->Monotonic();
  std::vector<RunCandidate> candidates = RunCandidates(live_);
  for (const auto& [id, device] : devices_.devices()) {
    // What the agent still works on counts, wanted or not: a device does one thing at a time.
    absl::btree_set<std::string> attempts = devices_.ActiveAttempts(device.agent_id);
    for (std::string& attempt : live_.AttemptsOf(AgentKey(device.agent_id))) {
      attempts.insert(std::move(attempt));
    }
    const DeviceSnapshot snapshot{.id = id,
                                  .offer = &device.offer,
                                  .present = !devices_.agents().IsLost(device.agent_id, monotonic),
                                  .attempts = static_cast<int>(attempts.size())};
    const absl::optional<std::string> job = PickAssignment(snapshot, candidates, now);
    if (!job.has_value()) continue;
    AssignRun(*job, device);
    candidates = RunCandidates(live_);
  }
}

void Dispatcher::AssignRun(const std::string& job_id, const RegisteredDevice& device) {
  const absl::Time now = parts_.clock->Now();
  const std::string attempt_id = parts_.ids->Next(now);
  Transit(job_id, Assigned{.attempt_id = attempt_id,
                           .holder = AgentKey(device.agent_id),
                           .assignee = device.description.id(),
                           .instance_id = devices_.agents().Find(device.agent_id)->instance_id,
                           .deadline = AttemptDeadline(live_.Find(job_id)->record.job(), now)});
  absl::StatusOr<v1::RunAssignment> assignment = BuildAssignment(live_.Find(job_id)->record);
  if (assignment.ok()) {
    assignments_[attempt_id] = *std::move(assignment);
    return;
  }
  // What is stored cannot be given out; no other attempt would fare better.
  Transit(job_id, AttemptFailed{attempt_id, ToProto(assignment.status(), ""), false});
}

absl::StatusOr<v1::RunAssignment> Dispatcher::BuildAssignment(const JobRecord& record) {
  const v1::Job& job = record.job();
  v1::RunAssignment assignment;
  assignment.set_attempt_id(record.attempt().id());
  assignment.set_job_id(job.id());
  assignment.set_device(job.assignee());
  if (job.has_benchmark()) {
    *assignment.mutable_benchmark() = job.benchmark();
  } else {
    *assignment.mutable_run() = job.run();
  }
  assignment.set_deadline_ns(record.attempt().deadline_ns());
  const absl::Status status = parts_.artifacts->FillAssignment(RunOf(job), &assignment);
  if (!status.ok()) return status;
  return assignment;
}

void Dispatcher::ScheduleCompilations() {
  if (live_.queued_compilations().empty()) return;
  const absl::Time now = parts_.clock->Now();
  const absl::Duration monotonic = parts_.clock->Monotonic();
  std::vector<std::string> worker_ids;
  for (const auto& [id, worker] : workers_.workers()) worker_ids.push_back(id);
  for (const std::string& worker_id : worker_ids) {
    const RegisteredWorker& worker = *workers_.Find(worker_id);
    while (true) {
      absl::btree_set<std::string> attempts = worker.active;
      for (std::string& attempt : live_.AttemptsOf(WorkerKey(worker_id))) {
        attempts.insert(std::move(attempt));
      }
      const WorkerSnapshot snapshot{.targets = &worker.targets,
                                    .present = !workers_.peers().IsLost(worker_id, monotonic),
                                    .attempts = static_cast<int>(attempts.size()),
                                    .capacity = worker.capacity};
      std::vector<CompileCandidate> candidates;
      for (const std::string& id : live_.queued_compilations()) {
        const LiveJob& job = *live_.Find(id);
        const JobRecord& record = job.record;
        candidates.push_back({.job_id = id,
                              .family = job.family,
                              .fingerprint = record.compilation().fingerprint(),
                              .not_before = absl::FromUnixNanos(record.not_before_ns())});
      }
      const absl::optional<std::string> job = PickCompilation(snapshot, candidates, now);
      if (!job.has_value()) break;
      AssignCompilation(*job, worker_id);
    }
  }
}

void Dispatcher::AssignCompilation(const std::string& job_id, const std::string& worker_id) {
  const absl::Time now = parts_.clock->Now();
  const std::string group = live_.Find(job_id)->record.compilation().group();
  absl::Duration deadline = AttemptDeadline(live_.Find(job_id)->record.job(), now);
  for (const std::string& id : live_.JobsOfGroup(group)) {
    deadline = std::max(deadline, AttemptDeadline(live_.Find(id)->record.job(), now));
  }
  Transit(job_id, Assigned{.attempt_id = parts_.ids->Next(now),
                           .holder = WorkerKey(worker_id),
                           .assignee = worker_id,
                           .instance_id = workers_.peers().Find(worker_id)->instance_id,
                           .deadline = deadline});
  counters_.set_artifact_cache_misses(counters_.artifact_cache_misses() + 1);
  for (const std::string& id : live_.JobsOfGroup(group)) {
    if (id != job_id) JoinGroup(id);
  }
}

void Dispatcher::RekeyCompilations(const TargetFingerprints& targets) {
  const LiveJobs::Ids waiting = live_.queued_compilations();
  for (const std::string& id : waiting) {
    const LiveJob& job = *live_.Find(id);
    const JobRecord& record = job.record;
    const auto target = targets.find(job.family);
    if (target == targets.end()) continue;
    const std::string& fingerprint = target->second;
    if (record.compilation().fingerprint() == fingerprint) continue;
    const absl::StatusOr<std::string> key = CompileKey(record.job().compilation(), fingerprint);
    if (!key.ok()) continue;  // Checked when it was accepted; its queue deadline ends it otherwise.
    CompilationFacts facts;
    facts.set_compile_key(*key);
    facts.set_fingerprint(fingerprint);
    if (!record.compilation().group().empty()) facts.set_group(*key);
    Transit(id, Rekeyed{std::move(facts)});
  }
}

void Dispatcher::JoinGroup(const std::string& job_id) {
  const LiveJob* job = live_.Find(job_id);
  if (job == nullptr || !job->record.has_compilation() ||
      job->record.job().state() != v1::Job::QUEUED) {
    return;
  }
  for (const std::string& id : live_.JobsOfGroup(job->record.compilation().group())) {
    const JobRecord other = live_.Find(id)->record;
    if (!other.has_attempt()) continue;
    Transit(job_id, Joined{.attempt = other.attempt(),
                           .assignee = other.job().assignee(),
                           .attempts = other.job().attempts()});
    counters_.set_compilations_coalesced(counters_.compilations_coalesced() + 1);
    if (other.job().state() == v1::Job::RUNNING) {
      Transit(job_id, Started{other.attempt().id()});
    }
    return;
  }
}

}  // namespace slipway::server
