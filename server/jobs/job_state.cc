#include "server/jobs/job_state.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

using v1::Job;

constexpr Rule kNo = Rule::kIllegal;
constexpr Rule kSame = Rule::kStay;
constexpr Rule kGo = Rule::kMove;

constexpr std::array<absl::string_view, kJobEventKinds> kEventNames = {
    "assigned",          "joined",          "started",          "progressed",
    "attempt succeeded", "attempt failed",  "attempt lost",     "found in cache",
    "rekeyed",           "deadline passed", "cancel requested", "given up"};

// Rows are states, columns events in the order of JobEvent. A job may be told twice that it began, ended
// by itself or was cancelled; nothing else about it may come twice.
constexpr std::array<std::array<Rule, kJobEventKinds>, 7> kTable = {{
    // The columns: assigned, joined, started, progressed, succeeded, failed, lost, found in cache, rekeyed,
    // deadline passed, cancel requested, given up.
    // clang-format off
    /* UNSPECIFIED */ {{kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    /* QUEUED      */ {{kGo, kGo, kNo, kNo, kNo, kNo, kNo, kGo, kGo, kGo, kGo, kGo}},
    /* ASSIGNED    */ {{kNo, kNo, kGo, kGo, kGo, kGo, kGo, kNo, kNo, kGo, kGo, kNo}},
    /* RUNNING     */ {{kNo, kNo, kSame, kGo, kGo, kGo, kGo, kNo, kNo, kGo, kGo, kNo}},
    /* SUCCEEDED   */ {{kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kSame, kSame, kNo}},
    /* FAILED      */ {{kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kSame, kSame, kNo}},
    /* CANCELLED   */ {{kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kSame, kSame, kNo}},
    // clang-format on
}};

void GiveBack(JobRecord& record, absl::Time now) {
  if (!record.has_lease()) return;
  const int64_t held = absl::ToUnixNanos(now) - record.lease().begin_time_ns();
  record.set_held_ns(record.held_ns() + std::max<int64_t>(held, 0));
  record.clear_lease();
}

void End(JobRecord& record, Job::State state, absl::Time now) {
  GiveBack(record, now);
  record.mutable_job()->clear_progress();
  record.mutable_job()->set_state(state);
  record.mutable_job()->set_end_time_ns(absl::ToUnixNanos(now));
}

void Fail(JobRecord& record, v1::JobError error, absl::Time now) {
  End(record, Job::FAILED, now);
  *record.mutable_job()->mutable_error() = std::move(error);
}

v1::JobError MakeError(absl::StatusCode code, std::string message) {
  v1::JobError error;
  error.set_code(static_cast<int>(code));
  error.set_message(std::move(message));
  return error;
}

void Requeue(JobRecord& record, absl::Duration wait, absl::Time now) {
  GiveBack(record, now);
  Job& job = *record.mutable_job();
  job.clear_progress();
  job.set_state(Job::QUEUED);
  record.set_queued_time_ns(absl::ToUnixNanos(now));
  record.set_not_before_ns(absl::ToUnixNanos(now + wait));
}

// Another attempt, or the end of the job when there were enough.
void RetryOrFail(JobRecord& record, v1::JobError error, absl::Time now) {
  const int attempts = record.job().attempts();
  // What a client had on its device is gone with the attempt.
  if (attempts < (record.job().has_session() || record.is_probe() ? 1 : kMaxAttempts)) {
    Requeue(record, Backoff(attempts), now);
    return;
  }
  if (attempts > 1) {
    error.set_message(absl::StrCat(error.message(), "; given up after ", attempts, " attempts"));
  }
  Fail(record, std::move(error), now);
}

absl::string_view DeadlineName(DeadlineKind kind) {
  switch (kind) {
    case DeadlineKind::kQueue:
      return "queue deadline";
    case DeadlineKind::kRun:
      return "run deadline";
    case DeadlineKind::kTotal:
      return "total deadline";
  }
  return "deadline";
}

std::string DeadlineMessage(const JobRecord& record, DeadlineKind kind) {
  const v1::JobDeadlines& deadlines = record.job().deadlines();
  switch (kind) {
    case DeadlineKind::kQueue:
      return absl::StrCat("no ", record.job().has_compilation() ? "worker" : "device",
                          " took the job within its queue deadline of ",
                          absl::FormatDuration(absl::Nanoseconds(deadlines.queue_ns())),
                          record.job().has_compilation()
                              ? "; see that a worker runs"
                              : "; see 'slipway devices' for one that can run it");
    case DeadlineKind::kRun:
      return absl::StrCat("'", record.job().assignee(), "' did not end within the run deadline of ",
                          absl::FormatDuration(absl::Nanoseconds(deadlines.run_ns())));
    case DeadlineKind::kTotal:
      break;
  }
  return absl::StrCat("the job did not end within its ", DeadlineName(kind), " of ",
                      absl::FormatDuration(absl::Nanoseconds(deadlines.total_ns())));
}

// What each event does where the table allows it.
struct Effect {
  JobRecord& record;
  absl::Time now;

  void operator()(const Assigned& event) const {
    Job& job = *record.mutable_job();
    job.set_state(Job::ASSIGNED);
    job.set_assignee(event.assignee);
    job.set_attempts(job.attempts() + 1);
    Lease& lease = *record.mutable_lease();
    lease.set_id(event.attempt_id);
    lease.set_holder(event.holder);
    lease.set_instance_id(event.instance_id);
    lease.set_begin_time_ns(absl::ToUnixNanos(now));
    lease.set_deadline_ns(absl::ToInt64Nanoseconds(event.deadline));
  }
  void operator()(const Joined& event) const {
    Job& job = *record.mutable_job();
    job.set_state(Job::ASSIGNED);
    job.set_assignee(event.assignee);
    job.set_attempts(std::max(job.attempts() + 1, event.attempts));
    *record.mutable_lease() = event.lease;
  }
  void operator()(const Started&) const {
    record.mutable_job()->set_state(Job::RUNNING);
    record.mutable_job()->set_start_time_ns(absl::ToUnixNanos(now));
  }
  void operator()(const Progressed& event) const {
    if (record.job().state() == Job::ASSIGNED) (*this)(Started{event.attempt_id});
    *record.mutable_job()->mutable_progress() = event.progress;
    Lease& lease = *record.mutable_lease();
    const absl::Duration silent = absl::Nanoseconds(event.progress.silent_ns());
    // No longer than it has been there.
    lease.set_silent_since_ns(silent > absl::ZeroDuration()
                                  ? std::max(lease.begin_time_ns(), absl::ToUnixNanos(now - silent))
                                  : 0);
  }
  void operator()(const AttemptSucceeded& event) const {
    // The holder may be done before it could say that it began.
    if (record.job().state() == Job::ASSIGNED) (*this)(Started{event.attempt_id});
    End(record, Job::SUCCEEDED, now);
    std::visit([this](const auto& result) { SetResult(result); }, event.result);
  }
  void operator()(const AttemptFailed& event) const {
    if (event.retriable) {
      RetryOrFail(record, event.error, now);
    } else {
      Fail(record, event.error, now);
    }
  }
  void operator()(const AttemptLost& event) const {
    if (!event.counted) {
      record.mutable_job()->set_attempts(std::max(0, record.job().attempts() - 1));
      Requeue(record, absl::ZeroDuration(), now);
      return;
    }
    RetryOrFail(record, MakeError(absl::StatusCode::kAborted, event.why), now);
  }
  void operator()(const FoundInCache& event) const {
    End(record, Job::SUCCEEDED, now);
    SetResult(event.result);
  }
  void operator()(const Rekeyed& event) const { *record.mutable_compilation() = event.facts; }
  void operator()(const DeadlinePassed& event) const {
    std::string message = DeadlineMessage(record, event.kind);
    Fail(record, MakeError(absl::StatusCode::kDeadlineExceeded, std::move(message)), now);
  }
  void operator()(const GivenUp& event) const { Fail(record, event.error, now); }
  void operator()(const CancelRequested& event) const {
    record.set_cancelled_by(event.by);
    End(record, Job::CANCELLED, now);
  }

  void SetResult(const v1::CompilationResult& result) const {
    *record.mutable_job()->mutable_compilation_result() = result;
  }
  void SetResult(const v1::RunResult& result) const {
    *record.mutable_job()->mutable_run_result() = result;
  }
  void SetResult(const v1::SessionResult& result) const {
    *record.mutable_job()->mutable_session_result() = result;
  }
  void SetResult(const v1::BenchmarkResult& result) const {
    *record.mutable_job()->mutable_benchmark_result() = result;
  }
};

// The attempt an event is of; nullptr when it is of none.
const std::string* AttemptOf(const JobEvent& event) {
  if (const auto* e = std::get_if<Started>(&event)) return &e->attempt_id;
  if (const auto* e = std::get_if<Progressed>(&event)) return &e->attempt_id;
  if (const auto* e = std::get_if<AttemptSucceeded>(&event)) return &e->attempt_id;
  if (const auto* e = std::get_if<AttemptFailed>(&event)) return &e->attempt_id;
  if (const auto* e = std::get_if<AttemptLost>(&event)) return &e->attempt_id;
  return nullptr;
}

bool ResultFits(const Job& job, const JobEvent& event) {
  if (std::holds_alternative<FoundInCache>(event) || std::holds_alternative<Rekeyed>(event)) {
    return job.has_compilation();
  }
  const auto* succeeded = std::get_if<AttemptSucceeded>(&event);
  return succeeded == nullptr || IsResultOf(job, succeeded->result);
}

}  // namespace

Rule RuleFor(v1::Job::State state, size_t event) {
  const int row = static_cast<int>(state);
  if (row < 0 || row >= static_cast<int>(kTable.size()) || event >= kTable[row].size()) {
    return Rule::kIllegal;
  }
  return kTable[row][event];
}

absl::string_view EventName(size_t event) {
  return event < kEventNames.size() ? kEventNames[event] : "unknown";
}

bool IsTerminal(v1::Job::State state) {
  return state == Job::SUCCEEDED || state == Job::FAILED || state == Job::CANCELLED;
}

bool IsResultOf(const v1::Job& job, const JobResult& result) {
  switch (job.spec_case()) {
    case Job::kCompilation:
      return std::holds_alternative<v1::CompilationResult>(result);
    case Job::kRun:
      return std::holds_alternative<v1::RunResult>(result);
    case Job::kBenchmark:
      return std::holds_alternative<v1::BenchmarkResult>(result);
    case Job::kSession:
      return std::holds_alternative<v1::SessionResult>(result);
    case Job::SPEC_NOT_SET:
      break;
  }
  return false;
}

std::string StateName(v1::Job::State state) { return Job::State_Name(state); }

absl::StatusOr<JobRecord> Apply(const JobRecord& record, const JobEvent& event, absl::Time now) {
  const Job& job = record.job();
  const Rule rule = RuleFor(job.state(), event.index());
  if (rule == Rule::kIllegal) {
    return absl::FailedPreconditionError(absl::StrCat("job '", job.id(), "' is ",
                                                      StateName(job.state()), ": cannot become '",
                                                      EventName(event.index()), "'"));
  }
  const std::string* attempt_id = AttemptOf(event);
  if (attempt_id != nullptr && *attempt_id != record.lease().id()) {
    return absl::AbortedError(
        absl::StrCat("attempt '", *attempt_id, "' is not the current one of job '", job.id(), "'"));
  }
  if (!ResultFits(job, event)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the result of job '", job.id(), "' is not of the job's kind"));
  }
  JobRecord next = record;
  if (rule == Rule::kMove) std::visit(Effect{next, now}, event);
  return next;
}

absl::Duration Backoff(int attempts) {
  absl::Duration wait = kFirstBackoff;
  for (int i = 1; i < attempts; ++i) wait *= kBackoffFactor;
  return wait;
}

absl::optional<NextDeadline> DeadlineOf(const JobRecord& record) {
  const Job& job = record.job();
  if (IsTerminal(job.state())) return absl::nullopt;
  const absl::Time total =
      absl::FromUnixNanos(job.create_time_ns()) + absl::Nanoseconds(job.deadlines().total_ns());
  NextDeadline own;
  if (job.state() == Job::QUEUED) {
    own.kind = DeadlineKind::kQueue;
    own.time = absl::FromUnixNanos(record.queued_time_ns()) +
               absl::Nanoseconds(job.deadlines().queue_ns());
  } else {
    own.kind = DeadlineKind::kRun;
    own.time = absl::FromUnixNanos(record.lease().begin_time_ns()) +
               absl::Nanoseconds(job.deadlines().run_ns()) + kRunDeadlineGrace;
  }
  if (total < own.time) return NextDeadline{total, DeadlineKind::kTotal};
  return own;
}

}  // namespace slipway::server
