// Runs a command to its end and keeps what it printed.
#ifndef SLIPWAY_TESTS_COMMON_COMMAND_H_
#define SLIPWAY_TESTS_COMMON_COMMAND_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/base/subprocess.h"

namespace slipway::testing {

struct CommandOptions {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  ResourceLimits limits;
  // Then it is killed, and the result says so by its signal.
  absl::Duration timeout = absl::Seconds(60);
};

struct CommandResult {
  ExitStatus status;
  pid_t pid = 0;  // That it had.
  std::string out;
  std::string err;
  absl::Duration wall;  // From before its start to after its end.

  // All of it, for messages.
  std::string ToString() const;
};

// What cannot even start ends the test with a check.
CommandResult RunCommand(const CommandOptions& options);

// A file below the workspace's root that the test names in `data`, such as "client/slipway".
std::string RunfilePath(const std::string& path);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_COMMAND_H_
