// What a list of jobs should have in it.
#ifndef SLIPWAY_CLIENT_LISTED_JOBS_H_
#define SLIPWAY_CLIENT_LISTED_JOBS_H_

#include "absl/status/status.h"
#include "client/client.h"
#include "client/types.h"

namespace slipway {

// UNIMPLEMENTED unless the job is one that was asked for: a server from before filters lists everything, which what it should have left out tells.
absl::Status CheckPasses(const JobListOptions& options, const Job& job);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LISTED_JOBS_H_
