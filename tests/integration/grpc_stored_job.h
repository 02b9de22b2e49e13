// What the client library does not show: a job as the server stores it, and repeated requests.
#ifndef SLIPWAY_TESTS_INTEGRATION_GRPC_STORED_JOB_H_
#define SLIPWAY_TESTS_INTEGRATION_GRPC_STORED_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/slipway/v1/job.pb.h"

namespace slipway::testing {

absl::StatusOr<v1::Job> GetStoredJob(const std::string& server, const std::string& id);

// Asks for the work of `job` again, under its request id, as the client library asked; the id of the job
// that the server answers with.
absl::StatusOr<std::string> AskAgain(const std::string& server, const v1::Job& job);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_INTEGRATION_GRPC_STORED_JOB_H_
