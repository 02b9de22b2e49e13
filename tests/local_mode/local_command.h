// LocalCommandTest: the command on this machine alone, as tests of what it does with real processes want it.
#ifndef SLIPWAY_TESTS_LOCAL_MODE_LOCAL_COMMAND_H_
#define SLIPWAY_TESTS_LOCAL_MODE_LOCAL_COMMAND_H_

#include <stdlib.h>

#include <string>
#include <vector>

#include "core/base/files.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {

class LocalCommandTest : public ::testing::Test {
 protected:
  LocalCommandTest() {
    // A socket's path must be short, and the folder of a test is not.
    setenv("TMPDIR", "/tmp", 1);
    folder_ = *TemporaryFolder::Create("local");
  }

  // With these arguments alone.
  CommandResult Command(const std::vector<std::string>& arguments) const {
    CommandOptions options;
    options.argv = {RunfilePath("client/slipway")};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = {{"TMPDIR", folder_.path()},
                           {"XDG_CACHE_HOME", tree_.Path("cache")},
                           {"XDG_RUNTIME_DIR", ""},
                           {"SLIPWAY_SERVER", ""}};
    return RunCommand(options);
  }
  // The same, with the server and the agent of the test's `data`.
  CommandResult Slipway(std::vector<std::string> arguments) const {
    arguments.push_back("--server-binary=" + RunfilePath("server/slipwayd"));
    arguments.push_back("--agent-binary=" + RunfilePath("device_agent/slipway-agent"));
    return Command(arguments);
  }
  // A file of the example with digits.
  static std::string Digits(const std::string& name) {
    return RunfilePath("client/examples/digits/" + name);
  }

  TemporaryFolder folder_;  // Where its processes meet.
  TempTree tree_;           // For the test's files.
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOCAL_MODE_LOCAL_COMMAND_H_
