// The subcommand of the agent's executable that makes a runner for an attached device.
//
//   agent ── socket, window ── runner ── exec prefix: ssh, adb ── bare runner
//
// A link starts the bare runner on the device, and then becomes the runner that drives it, which its agent knows from no other.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_LINK_MAIN_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_LINK_MAIN_H_

namespace slipway {

// argv is `link` and what link_arguments.h makes. Returns where that cannot be done: RunnerStatus::lost says as which error, and the last line
// of stderr why. Never initialises gRPC. Returns the process's exit code.
int LinkMain(int argc, char** argv);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_LINK_MAIN_H_
