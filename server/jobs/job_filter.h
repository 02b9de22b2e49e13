// Which jobs a list is asked for.
#ifndef SLIPWAY_SERVER_JOBS_JOB_FILTER_H_
#define SLIPWAY_SERVER_JOBS_JOB_FILTER_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/base/tag.h"
#include "proto/slipway/v1/job.pb.h"

namespace slipway::server {

// What is empty, or infinite, filters nothing but `owner`.
struct JobFilter {
  std::string owner;
  bool of_everybody = false;  // Whoever the owner is.
  std::vector<v1::Job::State> states;
  std::string before_id;  // Only ids below this.
  std::vector<v1::Job::Kind> kinds;
  std::string device;                       // ListJobsRequest.device
  std::vector<Tag> tags;                    // All of them.
  std::string subject;                      // Is somewhere in the job's, in capitals or not.
  absl::Time since = absl::InfinitePast();  // Accepted then or later.
};

v1::Job::Kind KindOf(const v1::Job& job);

// Whether a job passes, as far as can be told without its specification: false is for certain.
bool MayMatch(const JobFilter& filter, const v1::Job& job);
// Whether it passes. REQUIRES: it has its specification.
bool Matches(const JobFilter& filter, const v1::Job& job);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_FILTER_H_
