// JobStore: what the server has accepted and what became of it, on stable storage.
#ifndef SLIPWAY_SERVER_JOBS_JOB_STORE_H_
#define SLIPWAY_SERVER_JOBS_JOB_STORE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/jobs/job_filter.h"
#include "server/jobs/job_record.pb.h"
#include "server/jobs/job_state.h"
#include "server/page.h"

namespace slipway::server {

// A job that has ended.
struct EndedJob {
  std::string owner;
  HeldKind held_kind = HeldKind::kDevice;
  absl::Duration held;  // JobRecord.held_ns
  absl::Time end;
};
EndedJob EndedJobOf(const JobRecord& record);

using JobPage = Page<v1::Job>;

// Thread-safe. Several servers may use one store at a time, over a network. Errors of every method:
// RESOURCE_EXHAUSTED when the disk is full, UNAVAILABLE when it is busy or cannot be reached, DATA_LOSS when the
// stored data is damaged, INTERNAL otherwise; nothing has changed then.
class JobStore {
 public:
  // A new job, or the next record of a known one.
  struct Change {
    // With its new revision. That of a known job may lack the specification, which never changes.
    JobRecord record;
    int64_t replaces = 0;  // The revision that is stored now; 0: the job is new.
    // Of a benchmark that succeeds: what BeginEntry made, to which the record's result is added. The history has it exactly when the
    // change is stored.
    absl::optional<v1::HistoryEntry> entry = {};
  };
  // What became of a change of a group.
  struct Outcome {
    // ABORTED: what is stored is of another revision than `replaces`. ALREADY_EXISTS: the new job's owner used
    // its request_id for other work. The change was left out then, and the rest of its group was stored.
    absl::Status status;
    // The job that was made by the same request before, for the same work. The new one was left out.
    absl::optional<JobRecord> earlier;
  };

  virtual ~JobStore() = default;

  // Stores changes in one transaction, in their order; one outcome for each. Of a job that has ended, a specification with
  // more than kMaxKeptSpecBytes loses what ClearContents clears. What is stored survives the end of
  // the process, and, if a new job is among it, the end of the machine; that may otherwise undo the latest
  // groups, as if they had not come.
  virtual absl::StatusOr<std::vector<Outcome>> Commit(absl::Span<const Change> group) = 0;

  // The first of `count` revisions that were not given out before and will not be again, whoever asks, over all
  // restarts; above those of all jobs.
  virtual absl::StatusOr<int64_t> ReserveRevisions(int64_t count) = 0;

  // NOT_FOUND.
  virtual absl::StatusOr<JobRecord> Get(absl::string_view id) const = 0;

  // The job a request made, if any.
  virtual absl::StatusOr<absl::optional<JobRecord>> FindRequest(
      absl::string_view owner, absl::string_view request_id) const = 0;

  // Newest first, with the contents of their tensors left out. REQUIRES: limits.items > 0.
  virtual absl::StatusOr<JobPage> List(const JobFilter& filter, const PageLimits& limits) const = 0;

  // Every job that has not ended, oldest first.
  virtual absl::StatusOr<std::vector<JobRecord>> ListLive() const = 0;

  // Tells of every job that is known to have ended at `time` or later; in no order. `tell` shall not call the store.
  virtual absl::Status ForEachEndedSince(absl::Time time,
                                         absl::FunctionRef<void(const EndedJob&)> tell) const = 0;

  // Forgets jobs that ended before `time`; returns how many.
  virtual absl::StatusOr<int64_t> DeleteEndedBefore(absl::Time time) = 0;
  // Of each owner's jobs that have ended, forgets those that ended first, until the rest take at most `max_bytes` each;
  // returns how many.
  virtual absl::StatusOr<int64_t> DeleteEndedBeyond(int64_t max_bytes) = 0;
};

// What stores say alike.
absl::Status NoSuchJob(absl::string_view id);
absl::Status ChangedMeanwhile(absl::string_view id);
// OK if a request asks for the same work as it did when it made `earlier`; otherwise ALREADY_EXISTS.
absl::Status CheckSameWork(const JobRecord& earlier, absl::string_view work_digest);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_STORE_H_
