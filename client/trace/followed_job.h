// What a client has seen of the jobs that it made, beside what their server says of them.
#ifndef SLIPWAY_CLIENT_TRACE_FOLLOWED_JOB_H_
#define SLIPWAY_CLIENT_TRACE_FOLLOWED_JOB_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/types.h"

namespace slipway {

// The job looked like this when the client heard of it, by the client's clock.
struct JobSighting {
  absl::Time at;
  JobState state = JobState::kQueued;
  std::string stage;  // Of a job that is under way; empty where nobody tells.
};

struct FollowedJob {
  Job job;  // As it was seen last.
  std::string subject;
  // The client's clock before it began to send what the job needs, and when it knew that the job is accepted.
  absl::Time submit_begin;
  absl::Time submit_end;
  // In the order of time; each differs from the one before.
  std::vector<JobSighting> sightings;
};

// The jobs of one command, in the order in which they were made. Not thread-safe.
class JobLog {
 public:
  void Submitted(const std::string& job_id, const std::string& subject, absl::Time begin,
                 absl::Time end);
  // A job that was not made here is passed over.
  void Saw(const Job& job, absl::Time at);

  const std::vector<FollowedJob>& jobs() const { return jobs_; }

 private:
  std::vector<FollowedJob> jobs_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TRACE_FOLLOWED_JOB_H_
