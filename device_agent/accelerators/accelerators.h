// Which accelerators this machine has, as vendors' libraries say.
#ifndef SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATORS_H_
#define SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATORS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace slipway {

// The subcommand of the agent's executable that looks for the devices of a kind of --accelerator, on stdout, or says why there is none, on
// stderr. `argv` is `accelerators KIND`. Returns the process's exit code.
inline constexpr char kAcceleratorsCommand[] = "accelerators";
int AcceleratorsMain(int argc, char** argv);

// What a kind's first device is, and what the machine has of it.
struct FoundAccelerator {
  std::string target;  // "opencl", "cuda-sm90".
  std::string name;    // For people, with its driver.
  // All GPUs of the machine, as the vendor's management library names them, with memory and driver; empty where there is none.
  std::vector<std::string> inventory;
  std::vector<std::string> states;  // Of each of these: clocks, power and temperature, for people.
};

// Has a child look, since a vendor's library starts threads, and may crash; it keeps its own files in `folder`, which exists.
// FAILED_PRECONDITION says why there is no device, and what to install; DEADLINE_EXCEEDED.
absl::StatusOr<FoundAccelerator> FindAccelerator(const std::string& kind,
                                                 const std::string& executable,
                                                 const std::string& folder);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ACCELERATORS_ACCELERATORS_H_
