// JobService, but for WatchJob, which is a loop over ReadJob.
#ifndef SLIPWAY_SERVER_HANDLERS_JOBS_H_
#define SLIPWAY_SERVER_HANDLERS_JOBS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

// INVALID_ARGUMENT; NOT_FOUND for a job that is not there, or that the caller may not touch. The same for the others.
absl::StatusOr<v1::Job> ReadJob(const Caller& caller, const Environment& env, absl::string_view id);

absl::Status GetJob(const Caller& caller, const Environment& env, const v1::GetJobRequest& request,
                    v1::Job* response);
absl::Status ListJobs(const Caller& caller, const Environment& env,
                      const v1::ListJobsRequest& request, v1::ListJobsResponse* response);
absl::Status CancelJob(const Caller& caller, const Environment& env,
                       const v1::CancelJobRequest& request, v1::Job* response);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_JOBS_H_
