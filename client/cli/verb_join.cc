// slipway join: a server's administrator has invited this user; from now on the server knows him.
#include "client/cli/arguments.h"
#include "client/cli/exit_code.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"
#include "core/rpc/join.h"

namespace slipway::cli {

absl::Status Join(Environment& environment, Arguments arguments) {
  std::string path;
  FlagSet flags(
      "slipway join [flags] ADDRESS CODE",
      "Joins the server at ADDRESS, HOST:PORT, with a code that its administrator gets by "
      "`slipwayd invite user NAME`.");
  flags.Add("identity", &path, "FILE",
            "Where to keep who you are; default: slipway/servers/ADDRESS/user.pem below "
            "$XDG_CONFIG_HOME or ~/.config, where it is found.");
  SLIPWAY_ASSIGN_OR_RETURN(const auto given,
                           ParseArguments(environment, flags, arguments, {"ADDRESS", "CODE"}));
  if (!given.has_value()) return absl::OkStatus();
  const absl::StatusOr<Joined> joined = JoinServer((*given)[0], (*given)[1], Role::kUser, path);
  if (absl::IsInvalidArgument(joined.status())) return WrongCall(joined.status().message());
  SLIPWAY_RETURN_IF_ERROR(joined.status());
  environment.out << "joined as \"" << joined->name << "\"; who you are stands in " << joined->path
                  << "\n";
  return absl::OkStatus();
}

}  // namespace slipway::cli
