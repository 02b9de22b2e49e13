// The subcommands of the agent's executable by which a host works with a device that is attached to it: `link` runs on the host,
// `attached` and `describe` on the device.
//
//   agent ── socket, window ── link ── exec prefix: ssh, adb ── attached ── socket, window ── runner
//
// To the agent a link is a runner, and to a runner `attached` is its agent: neither knows that there is a stream between them. None
// initialises gRPC.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_MAIN_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_MAIN_H_

namespace slipway {

// argv is `link` and what link_arguments.h makes. Serves requests as RunnerMain does, with the blobs of the host's cache. When
// the runner ends, it ends in the same way: by the same signal or with the same exit code; when the device is lost,
// RunnerStatus::is_lost says so. Returns the process's exit code.
int LinkMain(int argc, char** argv);

// argv is `attached FOLDER LOG_LEVEL CONFINED MEMORY_BYTES CACHE_QUOTA_BYTES`. A runner for who is at the other end of stdin and stdout;
// what it logs and programs print goes to stderr. Ends with the stream, and the runner with it.
int AttachedMain(int argc, char** argv);

// argv is `describe FOLDER CONFINED`. Writes an attached::Description to stdout.
int DescribeMain(int argc, char** argv);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_ATTACHED_MAIN_H_
