// slipway job: one job.
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/job_of.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status ShowJob(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway job ID [flags]", "Shows one job, with the end of its log if it failed.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {"ID"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, JobOf(connection->client().GetJob(names->front())));
  environment.out << (json ? RenderJobJson(job) : RenderJob(job, absl::Now()));
  return absl::OkStatus();
}

}  // namespace slipway::cli
