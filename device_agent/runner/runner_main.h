// The `runner` and `attached-runner` subcommands of the agent's executable.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_MAIN_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_MAIN_H_

namespace slipway {

// Serves requests until the socket is closed, confined (core/confinement) before it reads the first one. argv is
// `runner CACHE_FOLDER LOG_LEVEL CONFINED`, and for programs with accelerators the folder of these; or `attached-runner` and the same, for
// programs on the device whose stream is kAttachedStream. Never initialises gRPC: it shall start fast and stay small. Returns the
// process's exit code.
int RunnerMain(int argc, char** argv);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_MAIN_H_
