// A job asked for by the id that was typed.
#ifndef SLIPWAY_CLIENT_CLI_JOB_OF_H_
#define SLIPWAY_CLIENT_CLI_JOB_OF_H_

#include "absl/status/statusor.h"
#include "client/cli/exit_code.h"
#include "client/types.h"

namespace slipway::cli {

// The job; an id that is unknown or malformed is a wrong call.
inline absl::StatusOr<Job> JobOf(absl::StatusOr<Job> job) {
  if (absl::IsNotFound(job.status()) || absl::IsInvalidArgument(job.status())) {
    return WithExitCode(job.status(), ExitCode::kWrongCall);
  }
  return job;
}

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_JOB_OF_H_
