// The supervisor: what the installed agent is as long as another binary runs in its place.
//
// The installed agent, when it starts, looks which binary is to run (update_state.h). Where that is another one, it starts that as
// its child with its own arguments and environment, tries it if it is new, puts another in its place if that fails, and ends as it
// ends. It does nothing else, so that what must always work is little, and the process that whoever started it watches is the same
// throughout.
//
// What installed agents and kept ones of other versions agree on: the child has kReportedVariable in its environment, writes a
// byte to that descriptor and closes it when the server has answered it for the first time, and ends with kTakeOffer when it has
// stored that something is to be tried. It is killed when its supervisor ends, however that ends.
#ifndef SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_SUPERVISOR_H_
#define SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_SUPERVISOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace slipway {

inline constexpr char kReportedVariable[] = "SLIPWAY_AGENT_REPORTED_FD";
inline constexpr int kTakeOffer = 86;

// argv[1] of the process that becomes a kept binary: "slipway-agent run-kept BINARY [arguments]". Once it is killed with its parent,
// whatever it does, it executes the binary in its own place.
inline constexpr char kRunKeptCommand[] = "run-kept";
// Returns when it cannot, with the exit code.
int RunKeptMain(int argc, char** argv);

struct SupervisorOptions {
  std::string state_dir;
  std::vector<std::string> argv;  // Of this process.
  int ready_fd = -1;              // That the first child gets.
  // In which the server must have heard of what is tried.
  absl::Duration report_within = absl::Minutes(2);
  // What has run for so long has run well.
  absl::Duration well_after = absl::Minutes(1);
};

// Runs what is to run in place of the installed agent. Nothing when that is to run itself, in this process; its exit code when
// this process is to end. Where the installed agent is to run once others have, executes it anew. REQUIRES: SIGINT and SIGTERM are
// blocked, and this is not a supervisor's child. FAILED_PRECONDITION when another supervisor has the state folder; errors of its
// files.
absl::StatusOr<std::optional<int>> Supervise(const SupervisorOptions& options);

// Executes this very binary again, in this process, with these arguments: what its threads hold is closed. Returns only if it cannot.
absl::Status ExecuteAgain(const std::vector<std::string>& argv);

// Whether this process is a supervisor's child.
bool IsSupervised();
// Tells its supervisor that the server has answered; nothing in one that has none. Once.
void TellReported();

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_SUPERVISOR_H_
