// slipway jobs: what the server was asked to do.
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Jobs(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  int64_t limit = 20;
  bool all = false;
  bool json = false;
  FlagSet flags("slipway jobs [flags]", "Lists jobs, newest first.");
  flags.Add("limit", &limit, 1, 1'000'000, "N", "Most jobs listed.");
  flags.Add("all", &all, "List the jobs of everybody; for administrators.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::vector<Job> jobs,
      connection->client().ListJobs({.limit = static_cast<int>(limit), .of_everybody = all}));
  environment.out << (json ? RenderJobsJson(jobs) : RenderJobs(jobs, all));
  return absl::OkStatus();
}

}  // namespace slipway::cli
