// LocalFleet: a server and an agent for one command, on this machine, gone with it.
#ifndef SLIPWAY_CLIENT_LOCAL_LOCAL_FLEET_H_
#define SLIPWAY_CLIENT_LOCAL_LOCAL_FLEET_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/local/sibling.h"
#include "core/base/files.h"

namespace slipway {

// A program, and a file of flags that its --config reads; what the fleet needs goes before. Empty for none.
struct LocalProgram {
  std::string binary;
  std::string config = "";
};

struct LocalFleetOptions {
  LocalProgram server;
  // Holds blobs, kernels and artifacts, shared by all that name it at a time.
  std::string cache_folder;
  absl::Duration ready_timeout = absl::Seconds(20);
};

// Several at a time on one machine do not disturb each other: each has a folder of its own for state and
// sockets, under $TMPDIR. If this process is killed, its siblings notice and end, and the next LocalFleet
// removes the folder. Not thread-safe.
class LocalFleet {
 public:
  // The server, ready to be called. Errors of starting it, with its log.
  static absl::StatusOr<std::unique_ptr<LocalFleet>> Start(const LocalFleetOptions& options);
  ~LocalFleet();

  // "unix:PATH"
  const std::string& address() const { return address_; }

  // Returns once an agent has reported to the server; the first call starts it.
  // Programs of it may use the accelerators (slipway-agent --accelerator).
  absl::Status StartAgent(const LocalProgram& agent,
                          const std::vector<std::string>& accelerators = {});

 private:
  explicit LocalFleet(const LocalFleetOptions& options) : options_(options) {}
  absl::Status MakeFolder();
  absl::Status StartServer();

  const LocalFleetOptions options_;
  TemporaryFolder folder_;
  std::optional<FileLock> lock_;  // Held: the folder is in use.
  std::string address_;
  std::unique_ptr<Sibling> server_;
  std::unique_ptr<Sibling> agent_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LOCAL_LOCAL_FLEET_H_
