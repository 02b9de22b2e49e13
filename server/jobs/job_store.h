// JobStore: what the server has accepted and what became of it, on stable storage.
#ifndef SLIPWAY_SERVER_JOBS_JOB_STORE_H_
#define SLIPWAY_SERVER_JOBS_JOB_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/jobs/job_record.pb.h"
#include "server/jobs/job_state.h"

namespace slipway::server {

// Which jobs to list.
struct JobFilter {
  std::string owner;
  std::vector<v1::Job::State> states;  // Empty: all.
  std::string before_id;               // Only ids below this; empty: all.
};

// Thread-safe. Errors of every method: RESOURCE_EXHAUSTED when the disk is full, UNAVAILABLE when it is
// busy, DATA_LOSS when the stored data is damaged, INTERNAL otherwise; nothing has changed then.
class JobStore {
 public:
  struct Created {
    JobRecord record;      // With its revision.
    bool existed = false;  // The request_id was known; `record` is the job it made.
  };

  virtual ~JobStore() = default;

  // Stores a new job, durably: it survives the end of the machine once this returned. A job with the same
  // owner and request_id is returned instead if its work_digest is equal; ALREADY_EXISTS if it is not.
  virtual absl::StatusOr<Created> Create(JobRecord record) = 0;

  // NOT_FOUND.
  virtual absl::StatusOr<JobRecord> Get(absl::string_view id) const = 0;

  // The job a request made, if any.
  virtual absl::StatusOr<absl::optional<JobRecord>> FindRequest(
      absl::string_view owner, absl::string_view request_id) const = 0;

  // Applies an event to `current`, which must be the whole record as last returned, and stores what comes of
  // it with a new revision. It survives the end of the process; the end of the machine may undo the
  // latest ones, as if the events had not come. Errors of Apply; ABORTED when the stored job has
  // changed since `current` was read. Returns `current` when the event has no effect.
  virtual absl::StatusOr<JobRecord> Transition(const JobRecord& current, const JobEvent& event,
                                               absl::Time now) = 0;

  // At most `limit` jobs, newest first, with the contents of their tensors left out.
  virtual absl::StatusOr<std::vector<v1::Job>> List(const JobFilter& filter, int limit) const = 0;

  // Every job that has not ended, oldest first.
  virtual absl::StatusOr<std::vector<JobRecord>> ListLive() const = 0;

  // Forgets jobs that ended before `time`; returns how many.
  virtual absl::StatusOr<int64_t> DeleteEndedBefore(absl::Time time) = 0;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_STORE_H_
