// What run and bench share: a program on a device, with its inputs.
#ifndef SLIPWAY_CLIENT_CLI_RUN_FLAGS_H_
#define SLIPWAY_CLIENT_CLI_RUN_FLAGS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/artifact_summary.h"
#include "client/cli/connection.h"
#include "client/cli/environment.h"
#include "client/cli/model_flags.h"
#include "client/cli/verbs.h"
#include "client/client.h"
#include "core/base/flags.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

struct RunFlags {
  ConnectionFlags connection;
  ModelFlags model;
  std::vector<std::string> inputs;
  int64_t seed = 0;
  int64_t threads = 1;
  int64_t loop_turns = 0;
  int64_t dynamic_bytes = 0;
  bool json = false;
  bool detach = false;
  // Whether the verb's own flags are right for that model or artifact, asked before anything is started; may be empty.
  std::function<absl::Status(const std::string& path)> check;

  void AddTo(FlagSet& flags);
};

// Ready to be submitted.
struct PreparedRun {
  std::string path;     // Of the model or artifact.
  std::string subject;  // The same, for people.
  std::unique_ptr<Connection> connection;
  ArtifactSummary artifact;
  std::vector<NamedTensor> inputs;
  RunOptions options;

  Client& client() const { return connection->client(); }
};

// Parses the arguments and checks them; returns the path of the model or artifact. Nothing when --help or --print-config asked for a text,
// which is printed. `flags` has those of `run` among others.
absl::StatusOr<std::optional<std::string>> ParseRun(Environment& environment, FlagSet& flags,
                                                    const RunFlags& run, Arguments arguments);

// What the flags say of running, but for the device. A wrong call for tags that are none.
absl::StatusOr<RunOptions> OptionsOf(const RunFlags& run);

// Connects, compiles `path` if need be, and reads the inputs.
absl::StatusOr<PreparedRun> PrepareRun(Environment& environment, const RunFlags& run,
                                       const std::string& path);

// The job that `submit` makes, followed to its end; nothing when it is not to be waited for: its id is then
// printed.
absl::StatusOr<std::optional<Job>> FollowRun(
    Environment& environment, const PreparedRun& run,
    absl::FunctionRef<absl::StatusOr<std::string>()> submit, bool detach);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RUN_FLAGS_H_
