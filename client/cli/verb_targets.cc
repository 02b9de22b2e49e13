// slipway targets: what models can be compiled for.
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"

namespace slipway::cli {

absl::Status Targets(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway targets [flags]",
                "Lists the targets that models are compiled for, and this machine's.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  std::vector<std::string> server_targets;
  if (!connection_flags.server.empty() || !environment.variable("SLIPWAY_SERVER").empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(const auto connection,
                             Connection::Open(environment, connection_flags));
    SLIPWAY_ASSIGN_OR_RETURN(ServerInfo info, connection->client().Info());
    server_targets = std::move(info.targets);
  }
  const std::string host = HostTarget().ToString();
  environment.out << (json ? RenderTargetsJson(KnownTargets(), host, server_targets)
                           : RenderTargets(KnownTargets(), host, server_targets));
  return absl::OkStatus();
}

}  // namespace slipway::cli
