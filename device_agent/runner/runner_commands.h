// How an agent starts its runner: what it says on the command line, and which descriptors it hands over.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_COMMANDS_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_COMMANDS_H_

namespace slipway {

// The subcommand's name, and the descriptors of its socket and of the memory it shares with the agent.
inline constexpr char kRunnerCommand[] = "runner";
inline constexpr int kRunnerSocket = 3;
inline constexpr int kRunnerWindow = 4;

// Of one that drives an attached device: its name, and the descriptor of the stream to the device.
inline constexpr char kAttachedRunnerCommand[] = "attached-runner";
inline constexpr int kAttachedStream = 5;

// How a runner that cannot be confined wholly goes on.
inline constexpr char kConfinedAsCan[] = "as-can";
inline constexpr char kConfinedWholly[] = "wholly";  // It does not.

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_COMMANDS_H_
