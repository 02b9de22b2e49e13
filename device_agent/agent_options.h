// What an agent is told when it starts.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_OPTIONS_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/flags.h"
#include "core/base/subprocess.h"

namespace slipway {

struct AgentOptions {
  std::string server;
  std::string listen;
  std::string announce;
  bool insecure = false;
  std::string identity;
  std::string authority;
  std::string id;
  std::vector<std::string> labels;
  std::string state_dir;
  std::string cache_dir;
  int64_t cache_quota_bytes = int64_t{16} << 30;
  int64_t runner_memory_bytes = 0;
  std::string programs = "any";
  bool accept_updates = false;
  absl::Duration update_deadline = absl::Minutes(2);
  bool measure = true;
  bool require_confinement = false;
  std::string exec_prefix;
  std::string exec_folder;
  std::vector<std::string> accelerators;
  std::string vendor_libraries = "measured";
  std::string metrics_listen;
  int64_t ready_fd = -1;
  std::string log_level = "info";
};

// Of --programs: which ones a device takes.
inline constexpr char kAnyPrograms[] = "any";
inline constexpr char kCompiledPrograms[] = "compiled";

// Of --accelerator.
inline constexpr char kCudaAccelerator[] = "cuda";
inline constexpr char kOpenClAccelerator[] = "opencl";

// Declares the agent's flags, bound to `options`.
FlagSet AgentFlags(AgentOptions& options);

// Whether clients are known by an authority of the agent's own (own_door.h): it listens on a port without a server.
bool HasOwnDoor(const AgentOptions& options);

// Fills in what was not given: folders below $XDG_STATE_HOME/slipway (or ~/.local/state/slipway), the server of this
// machine unless the agent listens. FAILED_PRECONDITION when neither variable is set; PERMISSION_DENIED for listening
// without TLS where other machines reach it; INVALID_ARGUMENT for addresses or labels that are none, for programs that there are
// not, and for compiled ones or updates without a server that is called over TLS.
absl::Status CompleteOptions(AgentOptions& options);

// What clients of the server are told to connect to, when the agent listens at `listened`: what is announced, or the
// machine's name where it listens on all of the machine's addresses.
std::string AddressForClients(const AgentOptions& options, const std::string& listened);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_OPTIONS_H_
