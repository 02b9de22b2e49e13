// --trace: what real processes did, read by a program that is not ours to write traces with.
#include <stdlib.h>

#include <string>
#include <vector>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

class TraceTest : public ::testing::Test {
 protected:
  TraceTest() {
    // A socket's path must be short, and the folder of a test is not.
    setenv("TMPDIR", "/tmp", 1);
    folder_ = *TemporaryFolder::Create("trace");
  }

  CommandResult Slipway(std::vector<std::string> arguments) {
    CommandOptions options;
    options.argv = {RunfilePath("client/slipway")};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.argv.push_back("--server-binary=" + RunfilePath("server/slipwayd"));
    options.argv.push_back("--agent-binary=" + RunfilePath("device_agent/slipway-agent"));
    options.environment = {{"TMPDIR", folder_.path()},
                           {"XDG_CACHE_HOME", tree_.Path("cache")},
                           {"XDG_RUNTIME_DIR", ""},
                           {"SLIPWAY_SERVER", ""}};
    return RunCommand(options);
  }

  const std::string model_ = RunfilePath("client/examples/digits/digits.onnx");
  TemporaryFolder folder_;
  TempTree tree_;
};

TEST_F(TraceTest, ABenchmarkFromSubmittingToItsSteps) {
  const std::string trace = tree_.Path("trace.json");
  const CommandResult bench =
      Slipway({"bench", model_, "--profile", "--samples=20", "--json", "--trace", trace});
  ASSERT_EQ(bench.status.exit_code, 0) << bench.err;
  EXPECT_THAT(bench.err, HasSubstr("wrote " + trace + "\n"));
  const std::string result = tree_.Path("bench.json");
  ASSERT_OK(WriteFileAtomically(result, bench.out, /*durable=*/false));
  CommandOptions reader;
  reader.argv = {RunfilePath("tests/local_mode/read_trace.py"), trace, result};
  const CommandResult read = RunCommand(reader);
  EXPECT_EQ(read.status.exit_code, 0) << read.err;
  EXPECT_THAT(read.out, HasSubstr("program on local / samples: 20 spans"));
}

TEST_F(TraceTest, ARunHasALifeToo) {
  const std::string trace = tree_.Path("trace.json");
  const CommandResult run = Slipway({"run", model_, "--json", "--trace", trace});
  ASSERT_EQ(run.status.exit_code, 0) << run.err;
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(trace, 1 << 20));
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(text));
  std::vector<std::string> names;
  for (const Json& event : json["traceEvents"]) names.push_back(event["name"]);
  EXPECT_THAT(names, ::testing::IsSupersetOf(
                         {"compilation digits.onnx", "run digits.onnx", "link", "fetch", "run"}));
}

TEST_F(TraceTest, WhatIsNotFollowedHasNoTrace) {
  const CommandResult run = Slipway({"run", model_, "--detach", "--trace", "x.json"});
  EXPECT_EQ(run.status.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("not together with \"--detach\""));
}

}  // namespace
}  // namespace slipway::testing
