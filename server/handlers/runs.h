// RunService.
#ifndef SLIPWAY_SERVER_HANDLERS_RUNS_H_
#define SLIPWAY_SERVER_HANDLERS_RUNS_H_

#include "absl/status/status.h"
#include "proto/slipway/v1/run.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status CreateRun(const Caller& caller, const Environment& env,
                       const v1::CreateRunRequest& request, v1::CreateJobResponse* response);
absl::Status CreateBenchmark(const Caller& caller, const Environment& env,
                             const v1::CreateBenchmarkRequest& request,
                             v1::CreateJobResponse* response);

// Checks the inputs of a run against what the program takes: names, types, shapes, sizes. INVALID_ARGUMENT
// says what is expected; RESOURCE_EXHAUSTED when they are over the limits.
absl::Status CheckInputs(const HandlerLimits& limits, const ProgramSignature& signature,
                         const v1::RunSpec& spec);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_RUNS_H_
