// slipway queue: what waits, for what, and why.
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status ShowQueue(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  QueueListOptions options;
  int64_t limit = 100;
  bool json = false;
  FlagSet flags("slipway queue [flags]",
                "Lists what waits, of everybody, and why: those that need the same together, first "
                "who is next. Jobs of others have no names.");
  flags.Add("device", &options.device, "ID", "Only jobs for this device by name.");
  flags.Add("own", &options.own, "Only your own.");
  flags.Add("limit", &limit, 1, 1'000, "N", "Most jobs listed.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  options.limit = static_cast<int>(limit);
  SLIPWAY_ASSIGN_OR_RETURN(const Queue queue, connection->client().ListQueue(options));
  environment.out << (json ? RenderQueueJson(queue) : RenderQueue(queue, absl::Now()));
  return absl::OkStatus();
}

}  // namespace slipway::cli
