// Which accelerators this machine has, as vendors' libraries say.
#ifndef SLIPWAY_DEVICE_AGENT_ACCELERATORS_H_
#define SLIPWAY_DEVICE_AGENT_ACCELERATORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace slipway {

// The subcommand of the agent's executable that looks for the devices of OpenCL: their names, a line each, on stdout, or why
// there is none, on stderr. `argv` is `accelerators`. Returns the process's exit code.
inline constexpr char kAcceleratorsCommand[] = "accelerators";
int AcceleratorsMain(int argc, char** argv);

// Has a child look, since a vendor's library starts threads, and may crash; it keeps its own files in `folder`, which exists. What
// the first device of OpenCL is called. FAILED_PRECONDITION says why there is none, and what to install; DEADLINE_EXCEEDED.
absl::StatusOr<std::string> FindOpenClDevice(const std::string& executable,
                                             const std::string& folder);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ACCELERATORS_H_
