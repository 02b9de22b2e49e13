// The command `slipway`.
#ifndef SLIPWAY_CLIENT_CLI_COMMAND_H_
#define SLIPWAY_CLIENT_CLI_COMMAND_H_

#include "client/cli/environment.h"
#include "client/cli/exit_code.h"
#include "client/cli/verbs.h"

namespace slipway::cli {

// Does what was typed (without the program's name). An error is one line on `err`.
ExitCode RunCommand(Environment& environment, Arguments arguments);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_COMMAND_H_
