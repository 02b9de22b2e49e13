// CompileService.
#ifndef SLIPWAY_SERVER_HANDLERS_COMPILATIONS_H_
#define SLIPWAY_SERVER_HANDLERS_COMPILATIONS_H_

#include "absl/status/status.h"
#include "proto/slipway/v1/compile.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status CreateCompilation(const Caller& caller, const Environment& env,
                               const v1::CreateCompilationRequest& request,
                               v1::CreateCompilationResponse* response);

// INVALID_ARGUMENT or RESOURCE_EXHAUSTED, as CreateCompilation says. Puts the target's canonical name into
// `spec`.
absl::Status CheckCompilationSpec(const HandlerLimits& limits, v1::CompilationSpec* spec);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_COMPILATIONS_H_
