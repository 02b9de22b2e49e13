// The states of a job and what moves it from one to the next.
//
// Pure: a record and an event give the next record. Who acts on it, when and where, stands elsewhere.
#ifndef SLIPWAY_SERVER_JOBS_JOB_STATE_H_
#define SLIPWAY_SERVER_JOBS_JOB_STATE_H_

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/jobs/job_record.pb.h"

namespace slipway::server {

// A worker or device was chosen for the job.
struct Assigned {
  std::string attempt_id;
  std::string holder;       // "agent/ID" or "worker/ID".
  std::string assignee;     // The device or worker, as others see it.
  std::string instance_id;  // Of the holder.
  absl::Duration deadline;  // The attempt may take this long.
};

// The job joins an attempt that another job of its group has going.
struct Joined {
  Lease lease;
  std::string assignee;
  int attempts = 1;  // Of the other job.
};

// The holder says the attempt began.
struct Started {
  std::string attempt_id;
};

struct Progressed {
  std::string attempt_id;
  v1::JobProgress progress;
};

using JobResult =
    std::variant<v1::CompilationResult, v1::RunResult, v1::BenchmarkResult, v1::SessionResult>;

struct AttemptSucceeded {
  std::string attempt_id;
  JobResult result;
};

struct AttemptFailed {
  std::string attempt_id;
  v1::JobError error;
  bool retriable = false;
};

// The holder was silent for too long, restarted, or does not hold the attempt any more.
struct AttemptLost {
  std::string attempt_id;
  std::string why;
  bool counted = true;  // False when the server itself is to blame: the attempt is then given back.
};

// A compilation's artifact was found in the cache.
struct FoundInCache {
  v1::CompilationResult result;
};

// The compiler that a waiting compilation was keyed for is not there any more; another is.
struct Rekeyed {
  CompilationFacts facts;
};

enum class DeadlineKind { kQueue, kRun, kTotal };

struct DeadlinePassed {
  DeadlineKind kind;
};

// Nobody is there who could do what the job waits for, nor will anybody come soon.
struct GivenUp {
  v1::JobError error;
};

struct CancelRequested {
  std::string by;  // Who, for people.
};

using JobEvent =
    std::variant<Assigned, Joined, Started, Progressed, AttemptSucceeded, AttemptFailed,
                 AttemptLost, FoundInCache, Rekeyed, DeadlinePassed, CancelRequested, GivenUp>;
inline constexpr int kJobEventKinds = std::variant_size_v<JobEvent>;

// What an event does to a job in a state.
enum class Rule {
  kIllegal,  // FAILED_PRECONDITION.
  kStay,     // Nothing; the event has already had its effect.
  kMove,     // The record changes.
};

// The transition table. `event` is an index of JobEvent.
Rule RuleFor(v1::Job::State state, size_t event);

// The name of an event, for messages: "assigned".
absl::string_view EventName(size_t event);

bool IsTerminal(v1::Job::State state);

// Whether a result is of the job's kind.
bool IsResultOf(const v1::Job& job, const JobResult& result);

// The name of a state as in job.proto: "QUEUED".
std::string StateName(v1::Job::State state);

// What an attempt of a job holds.
enum class HeldKind { kWorker, kDevice };
inline HeldKind HeldKindOf(const JobRecord& record) {
  return record.has_compilation() ? HeldKind::kWorker : HeldKind::kDevice;
}

// The record after `event`; its revision is left as it is. FAILED_PRECONDITION when the table forbids it,
// naming job, state and event; ABORTED when the event is of an attempt that is not the job's current one:
// such a result comes late and is dropped.
absl::StatusOr<JobRecord> Apply(const JobRecord& record, const JobEvent& event, absl::Time now);

// How long a job waits after its `attempts`th attempt was lost.
absl::Duration Backoff(int attempts);

// The next deadline of a job, if it has not ended.
struct NextDeadline {
  absl::Time time;
  DeadlineKind kind;
};
absl::optional<NextDeadline> DeadlineOf(const JobRecord& record);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_STATE_H_
