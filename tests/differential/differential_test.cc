// The short form of the comparison with oracles on random models (README.md). Skipped, by the names of what is absent, where
// ONNX and an oracle are not installed.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"

namespace slipway {
namespace {

using ::slipway::testing::CommandResult;
using ::slipway::testing::RunCommand;
using ::slipway::testing::RunfilePath;

constexpr int kPackagesAbsent = 77;

void Compare(const std::vector<std::string>& arguments) {
  const char* python = std::getenv("SLIPWAY_PYTHON");
  std::vector<std::string> argv = {python == nullptr ? "/usr/bin/python3" : python,
                                   RunfilePath("tests/differential/differential.py"), "--runner",
                                   RunfilePath("tests/conformance/onnx_backend_test")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const CommandResult result = RunCommand({.argv = argv, .timeout = absl::Minutes(10)});
  if (result.status.exit_code == kPackagesAbsent) GTEST_SKIP() << result.out;
  EXPECT_TRUE(result.status.ok()) << result.ToString();
}

TEST(DifferentialTest, Operators) {
  Compare({"--count", "880", "--document", RunfilePath("core/operators/OPERATORS.md")});
}

TEST(DifferentialTest, Graphs) { Compare({"--count", "0", "--graphs", "100"}); }

TEST(DifferentialTest, CompiledGraphs) {
  Compare({"--engine", "compiled", "--count", "0", "--graphs", "20", "--seed", "1000"});
}

}  // namespace
}  // namespace slipway
