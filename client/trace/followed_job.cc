#include "client/trace/followed_job.h"

#include "absl/algorithm/container.h"

namespace slipway {

void JobLog::Submitted(const std::string& job_id, const std::string& subject, absl::Time begin,
                       absl::Time end) {
  FollowedJob& followed = jobs_.emplace_back();
  followed.job.id = job_id;
  followed.subject = subject;
  followed.submit_begin = begin;
  followed.submit_end = end;
}

void JobLog::Saw(const Job& job, absl::Time at) {
  const auto followed =
      absl::c_find_if(jobs_, [&](const FollowedJob& known) { return known.job.id == job.id; });
  if (followed == jobs_.end()) return;
  followed->job = job;
  std::vector<JobSighting>& sightings = followed->sightings;
  const std::string stage = job.state == JobState::kQueued ? "" : job.progress.stage;
  if (!sightings.empty() && sightings.back().state == job.state &&
      sightings.back().stage == stage) {
    return;
  }
  sightings.push_back({at, job.state, stage});
}

}  // namespace slipway
