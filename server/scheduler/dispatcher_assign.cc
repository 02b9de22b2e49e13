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

}  // namespace

void Dispatcher::Schedule() {
  live_.Release(parts_.clock->Now());
  if (live_.waiting().size() == 0) return;
  const absl::Duration now = parts_.clock->Monotonic();
  for (const auto& [id, device] : devices_.devices()) {
    if (devices_.agents().IsLost(device.agent_id, now)) continue;
    Fill({.holder = AgentKey(device.agent_id),
          .assignee = id,
          .instance_id = devices_.agents().Find(device.agent_id)->instance_id,
          .supply = DeviceSupply{id, device.offer},
          // A device does one thing at a time.
          .capacity = 1},
         devices_.ActiveAttempts(device.agent_id));
  }
  for (const auto& [id, worker] : workers_.workers()) {
    if (workers_.peers().IsLost(id, now)) continue;
    Fill({.holder = WorkerKey(id),
          .assignee = id,
          .instance_id = workers_.peers().Find(id)->instance_id,
          .supply = worker.targets,
          .capacity = worker.capacity},
         worker.active);
  }
}

void Dispatcher::Fill(const Taker& taker, const absl::btree_set<std::string>& active) {
  // What it still works on counts, wanted or not.
  absl::btree_set<std::string> attempts = active;
  for (std::string& attempt : live_.AttemptsOf(taker.holder)) attempts.insert(std::move(attempt));
  for (int taken = static_cast<int>(attempts.size()); taken < taker.capacity; ++taken) {
    const absl::optional<std::string> job = live_.waiting().Pick(taker.supply, live_.held());
    if (!job.has_value()) return;
    Assign(*job, taker);
  }
}

void Dispatcher::Assign(const std::string& job_id, const Taker& taker) {
  const absl::Time now = parts_.clock->Now();
  const JobRecord& record = live_.Find(job_id)->record;
  // Those that share the attempt may have more time.
  const std::vector<std::string> group = live_.JobsOfGroup(record.compilation().group());
  absl::Duration deadline = AttemptDeadline(record.job(), now);
  for (const std::string& id : group) {
    deadline = std::max(deadline, AttemptDeadline(live_.Find(id)->record.job(), now));
  }
  if (record.has_compilation()) {
    counters_.set_artifact_cache_misses(counters_.artifact_cache_misses() + 1);
  }
  Transit(job_id, Assigned{.attempt_id = parts_.ids->Next(now),
                           .holder = taker.holder,
                           .assignee = taker.assignee,
                           .instance_id = taker.instance_id,
                           .deadline = deadline});
  for (const std::string& id : group) {
    if (id != job_id) JoinGroup(id);
  }
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

void Dispatcher::RekeyCompilations(const TargetFingerprints& targets) {
  for (const std::string& id : live_.QueuedCompilations()) {
    const LiveJob& job = *live_.Find(id);
    const JobRecord& record = job.record;
    const auto target = targets.find(std::get<CompilerNeed>(*job.need).family);
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
