// --trace: what real processes did, read by a program that is not ours to write traces with.
#include <string>
#include <vector>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"
#include "tests/local_mode/local_command.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

class TraceTest : public LocalCommandTest {
 protected:
  const std::string model_ = Digits("digits.onnx");
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
