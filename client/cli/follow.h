// Follows a job to its end.
#ifndef SLIPWAY_CLIENT_CLI_FOLLOW_H_
#define SLIPWAY_CLIENT_CLI_FOLLOW_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/environment.h"
#include "client/client.h"

namespace slipway::cli {

// Shows progress until the job has succeeded. When it failed, the end of its log goes to err and its error is
// returned, with the exit code that fits: a device that never took the job was not reachable. On an interrupt
// the job is cancelled.
absl::StatusOr<Job> FollowJob(Environment& environment, Client& client, const std::string& job_id,
                              absl::string_view subject);

// Submits a job and returns its id; errors as RefusedRequest has them.
absl::StatusOr<std::string> SubmitJob(Environment& environment, const std::string& subject,
                                      absl::FunctionRef<absl::StatusOr<std::string>()> submit);

// Gives what Create* refused the exit code that fits: a wrong call for INVALID_ARGUMENT, unreachable for a
// device that is NOT_FOUND.
absl::Status RefusedRequest(const absl::Status& status);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_FOLLOW_H_
