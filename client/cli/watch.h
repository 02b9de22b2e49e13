// Watching a list: it is asked for again and again.
#ifndef SLIPWAY_CLIENT_CLI_WATCH_H_
#define SLIPWAY_CLIENT_CLI_WATCH_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "client/cli/environment.h"
#include "client/client.h"

namespace slipway::cli {

// Calls `look`, which asks `client` and writes what is new to out, once a second until the command is interrupted or nobody
// reads out any more: OK. A server that went away is asked again until it is back; any other error of `look` is returned.
absl::Status WatchUntilInterrupted(Environment& environment, Client& client,
                                   absl::FunctionRef<absl::Status()> look);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_WATCH_H_
