// slipway cancel: ends a job.
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/job_of.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Cancel(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway cancel ID [flags]",
                "Ends a job in whatever state it is. A job that has ended stays as it is.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {"ID"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, JobOf(connection->client().CancelJob(names->front())));
  if (json) {
    environment.out << RenderJobJson(job);
  } else if (job.state == JobState::kSucceeded || job.state == JobState::kFailed) {
    environment.out << "job " << job.id << " had already " << Name(job.state) << "\n";
  } else {
    environment.out << "job " << job.id << " is " << (job.ended() ? "cancelled" : "being cancelled")
                    << "\n";
  }
  return absl::OkStatus();
}

}  // namespace slipway::cli
