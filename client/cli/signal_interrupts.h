// Interrupts from SIGINT, SIGTERM and SIGHUP.
#ifndef SLIPWAY_CLIENT_CLI_SIGNAL_INTERRUPTS_H_
#define SLIPWAY_CLIENT_CLI_SIGNAL_INTERRUPTS_H_

#include <memory>

#include "client/cli/environment.h"

namespace slipway::cli {

// Makes the process hear signals through this object for the rest of its life. Call once, before threads
// exist: they inherit that the signals are blocked.
std::unique_ptr<Interrupts> MakeSignalInterrupts();

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_SIGNAL_INTERRUPTS_H_
