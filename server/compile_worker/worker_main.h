// The worker's process: flags, the compile subcommand, signals.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_WORKER_MAIN_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_WORKER_MAIN_H_

#include "server/compile_worker/compile_function.h"

namespace slipway::worker {

// What main returns, for a worker of this compiler: 0 done, 1 failed, 2 called wrongly.
int WorkerMain(int argc, char** argv, const Compiler& compiler);

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_WORKER_MAIN_H_
