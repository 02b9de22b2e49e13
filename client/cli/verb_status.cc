// slipway status: what a server is doing, and what it does not begin for now.
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status ShowStatus(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway status [flags]",
                "Tells what the server is doing and has, in sums over everybody's jobs; why jobs "
                "wait; and what it does not begin for now, and why. Exit code 0: it begins "
                "whatever is asked for; 1: something lacks.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const ServerStatus status, connection->client().Status());
  environment.out << (json ? RenderStatusJson(status) : RenderStatus(status));
  if (status.is_healthy()) return absl::OkStatus();
  return WithExitCode(absl::ResourceExhaustedError("the server does not begin everything"),
                      ExitCode::kWorkFailed);
}

}  // namespace slipway::cli
