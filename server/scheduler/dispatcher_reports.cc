// Dispatcher: what agents and workers report, and what they are told.

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/wire/status_proto.h"
#include "server/jobs/job_state.h"
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

// A failure from a peer, with a code that is one and bounded texts.
v1::JobError Cleaned(const v1::JobError& error) {
  return ToProto(FromProto(error), error.log_tail());
}

bool SameProgress(const v1::JobProgress& a, const v1::JobProgress& b) {
  return a.stage() == b.stage() && a.done() == b.done() && a.total() == b.total();
}

absl::Status Outdated(absl::string_view id) {
  return absl::AbortedError(absl::StrCat("a later report of '", id, "' has come"));
}

}  // namespace

absl::Status Dispatcher::AgentReported(const v1::AgentState& state, absl::string_view address) {
  Section section(this);
  SLIPWAY_ASSIGN_OR_RETURN(
      DeviceRegistry::Reported reported,
      devices_.Report(state, address, parts_.clock->Now(), parts_.clock->Monotonic()));
  if (reported.kind == ReportKind::kOutdated) return absl::OkStatus();
  const std::string holder = AgentKey(state.agent_id());
  // An earlier call of this agent that is still parked has nothing left to wait for.
  changed_.push_back(holder);
  if (reported.kind == ReportKind::kNewInstance) {
    Log(LogLevel::kInfo, "agent came",
        {{"agent", state.agent_id()}, {"address", address}, {"version", state.version()}});
  }
  if (reported.description_changed) {
    for (const RegisteredDevice* device : devices_.DevicesOf(state.agent_id())) {
      writer_.PutDevice(devices_.Show(*device, parts_.clock->Monotonic()));
    }
  }
  const bool up_to_date = state.applied_version() == DesiredVersion(live_.AttemptsOf(holder));
  absl::btree_set<std::string> held;
  for (const v1::RunAttemptState& attempt : state.attempts()) {
    held.insert(attempt.attempt_id());
    TakeRunAttempt(attempt, holder);
  }
  LoseUnreported(holder, held, state.instance_id(), reported.kind == ReportKind::kNewInstance,
                 up_to_date);
  Schedule();
  return ReportNotStored(section.End());
}

void Dispatcher::TakeRunAttempt(const v1::RunAttemptState& attempt, absl::string_view holder) {
  const std::string& id = attempt.attempt_id();
  const std::vector<std::string> jobs = live_.JobsOfAttempt(id);
  if (jobs.empty()) return;  // Late: the job has ended or another attempt goes on.
  const JobRecord& record = live_.Find(jobs.front())->record;
  if (record.attempt().holder() != holder) return;
  switch (attempt.state()) {
    case v1::RunAttemptState::PREPARING:
      return;
    case v1::RunAttemptState::RUNNING:
      if (attempt.has_progress() && !SameProgress(attempt.progress(), record.job().progress())) {
        TransitAttempt(id, Progressed{id, attempt.progress()});
        return;
      }
      TransitAttempt(id, Started{id});
      return;
    case v1::RunAttemptState::SUCCEEDED: {
      absl::Status bad;
      JobResult result = v1::RunResult();
      if (record.job().has_benchmark() && attempt.has_benchmark_result()) {
        result = attempt.benchmark_result();
      } else if (record.job().has_run() && attempt.has_run_result()) {
        result = attempt.run_result();
        bad = parts_.artifacts->CheckOutputs(attempt.run_result());
      } else {
        bad = absl::InternalError("the agent reported a result of another kind than the job's");
      }
      if (bad.ok()) {
        TransitAttempt(id, AttemptSucceeded{id, std::move(result)});
      } else {
        TransitAttempt(id, AttemptFailed{id, ToProto(bad, ""), true});
      }
      return;
    }
    case v1::RunAttemptState::FAILED:
      TransitAttempt(id, AttemptFailed{id, Cleaned(attempt.error()), attempt.retriable()});
      return;
    case v1::RunAttemptState::STOPPED:
      TransitAttempt(
          id, AttemptLost{id, absl::StrCat("'", record.job().assignee(), "' stopped the attempt"),
                          true});
      return;
    default:
      return;
  }
}

absl::StatusOr<v1::DesiredAgentState> Dispatcher::DesiredOf(const v1::AgentState& state) {
  Section section(this);
  const Peer* peer = devices_.agents().Find(state.agent_id());
  if (peer == nullptr || peer->instance_id != state.instance_id() ||
      peer->sequence > state.sequence()) {
    return Outdated(state.agent_id());
  }
  v1::DesiredAgentState desired;
  const std::string holder = AgentKey(state.agent_id());
  for (const std::string& attempt : live_.AttemptsOf(holder)) {
    auto it = assignments_.find(attempt);
    if (it == assignments_.end()) {
      const std::string job_id = live_.JobsOfAttempt(attempt).front();
      absl::StatusOr<v1::RunAssignment> built = BuildAssignment(live_.Find(job_id)->record);
      if (!built.ok()) {
        TransitAttempt(attempt, AttemptFailed{attempt, ToProto(built.status(), ""), false});
        continue;
      }
      it = assignments_.emplace(attempt, *std::move(built)).first;
    }
    *desired.add_attempts() = it->second;
  }
  desired.set_version(DesiredVersion(live_.AttemptsOf(holder)));
  desired.set_silence_ns(absl::ToInt64Nanoseconds(options_.silence));
  SLIPWAY_RETURN_IF_ERROR(ReportNotStored(section.End()));
  return desired;
}

void Dispatcher::AgentCallBegan(const v1::AgentState& state) {
  Section section(this);
  devices_.agents().CallBegan(state.agent_id(), state.instance_id());
}

void Dispatcher::AgentCallEnded(const v1::AgentState& state) {
  Section section(this);
  devices_.agents().CallEnded(state.agent_id(), state.instance_id(), parts_.clock->Monotonic());
}

absl::Status Dispatcher::WorkerReported(const v1::WorkerState& state, absl::string_view address) {
  Section section(this);
  SLIPWAY_ASSIGN_OR_RETURN(ReportKind kind, workers_.Report(state, address, parts_.clock->Now(),
                                                            parts_.clock->Monotonic()));
  if (kind == ReportKind::kOutdated) return absl::OkStatus();
  const std::string holder = WorkerKey(state.worker_id());
  changed_.push_back(holder);
  if (kind == ReportKind::kNewInstance) {
    Log(LogLevel::kInfo, "worker came",
        {{"worker", state.worker_id()}, {"address", address}, {"version", state.version()}});
    if (IsLocalWorkerId(state.worker_id())) {
      const TargetFingerprints& targets = workers_.Find(state.worker_id())->targets;
      if (parts_.local_targets) parts_.local_targets(targets);
      RekeyCompilations(targets);
    }
  }
  const bool up_to_date = state.applied_version() == DesiredVersion(live_.AttemptsOf(holder));
  absl::btree_set<std::string> held;
  for (const v1::CompileAttemptState& attempt : state.attempts()) {
    held.insert(attempt.attempt_id());
    TakeCompileAttempt(attempt, holder);
  }
  LoseUnreported(holder, held, state.instance_id(), kind == ReportKind::kNewInstance, up_to_date);
  Schedule();
  return ReportNotStored(section.End());
}

void Dispatcher::TakeCompileAttempt(const v1::CompileAttemptState& attempt,
                                    absl::string_view holder) {
  const std::string& id = attempt.attempt_id();
  const std::vector<std::string> jobs = live_.JobsOfAttempt(id);
  if (jobs.empty()) return;
  const JobRecord& record = live_.Find(jobs.front())->record;
  if (record.attempt().holder() != holder) return;
  switch (attempt.state()) {
    case v1::CompileAttemptState::RUNNING:
      if (attempt.has_progress() && !SameProgress(attempt.progress(), record.job().progress())) {
        TransitAttempt(id, Progressed{id, attempt.progress()});
        return;
      }
      TransitAttempt(id, Started{id});
      return;
    case v1::CompileAttemptState::SUCCEEDED: {
      v1::CompilationResult result = attempt.result();
      result.set_cached(false);
      const absl::Status admitted = parts_.artifacts->Admit(record.compilation(), &result);
      if (!admitted.ok()) {
        TransitAttempt(id, AttemptFailed{id, ToProto(admitted, ""), true});
        return;
      }
      const v1::CompileReport& report = result.report();
      counters_.set_kernels_compiled(counters_.kernels_compiled() + report.kernels_compiled());
      counters_.set_kernels_cached(counters_.kernels_cached() + report.kernels_cached());
      TransitAttempt(id, AttemptSucceeded{id, std::move(result)});
      return;
    }
    case v1::CompileAttemptState::FAILED:
      TransitAttempt(id, AttemptFailed{id, Cleaned(attempt.error()), attempt.retriable()});
      return;
    case v1::CompileAttemptState::STOPPED:
      TransitAttempt(
          id, AttemptLost{id, absl::StrCat("'", record.job().assignee(), "' stopped the attempt"),
                          true});
      return;
    default:
      return;
  }
}

absl::StatusOr<v1::DesiredWorkerState> Dispatcher::DesiredOf(const v1::WorkerState& state) {
  Section section(this);
  const Peer* peer = workers_.peers().Find(state.worker_id());
  if (peer == nullptr || peer->instance_id != state.instance_id() ||
      peer->sequence > state.sequence()) {
    return Outdated(state.worker_id());
  }
  v1::DesiredWorkerState desired;
  const std::vector<std::string> attempts = live_.AttemptsOf(WorkerKey(state.worker_id()));
  for (const std::string& attempt : attempts) {
    const JobRecord& record = live_.Find(live_.JobsOfAttempt(attempt).front())->record;
    v1::CompileAssignment& assignment = *desired.add_attempts();
    assignment.set_attempt_id(attempt);
    assignment.set_job_id(record.job().id());
    *assignment.mutable_spec() = record.job().compilation();
    assignment.set_compile_key(record.compilation().compile_key());
    assignment.set_deadline_ns(record.attempt().deadline_ns());
  }
  desired.set_version(DesiredVersion(attempts));
  desired.set_silence_ns(absl::ToInt64Nanoseconds(options_.silence));
  SLIPWAY_RETURN_IF_ERROR(ReportNotStored(section.End()));
  return desired;
}

void Dispatcher::WorkerCallBegan(const v1::WorkerState& state) {
  Section section(this);
  workers_.peers().CallBegan(state.worker_id(), state.instance_id());
}

void Dispatcher::WorkerCallEnded(const v1::WorkerState& state) {
  Section section(this);
  workers_.peers().CallEnded(state.worker_id(), state.instance_id(), parts_.clock->Monotonic());
}

void Dispatcher::LocalWorkerEnded(absl::string_view worker_id, absl::string_view why,
                                  bool counted) {
  Section section(this);
  LoseAttempts(WorkerKey(worker_id), why, counted);
  workers_.Forget(worker_id);
  Schedule();
}

}  // namespace slipway::server
