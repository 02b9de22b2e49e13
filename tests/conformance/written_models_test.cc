// ONNX models that graph_opt writes, bodies and all, pass onnx.checker and run in ONNX Runtime. Debian's package
// libonnx-testdata has the models; skipped without it, and by the names of what is absent where $SLIPWAY_PYTHON, or Debian's
// Python, lacks onnx or ONNX Runtime.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"

namespace slipway {
namespace {

using ::slipway::testing::CommandResult;
using ::slipway::testing::RunCommand;
using ::slipway::testing::RunfilePath;

constexpr char kCases[] = "/usr/share/libonnx-testdata/data/node";
constexpr int kPackagesAbsent = 77;

TEST(WrittenModelsTest, RunInOnnxRuntime) {
  if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  const char* python = std::getenv("SLIPWAY_PYTHON");
  const CommandResult checked =
      RunCommand({.argv = {python == nullptr ? "/usr/bin/python3" : python,
                           RunfilePath("tests/conformance/check_written_models.py"),
                           RunfilePath("core/graph_opt/graph_opt"), kCases},
                  .timeout = absl::Minutes(5)});
  if (checked.status.exit_code == kPackagesAbsent) GTEST_SKIP() << checked.out;
  EXPECT_TRUE(checked.status.ok()) << checked.ToString();
  int passed = 0;
  for (const absl::string_view line : absl::StrSplit(checked.out, '\n', absl::SkipEmpty())) {
    passed += std::string(line).find(" passed") != std::string::npos;
  }
  EXPECT_GE(passed, 5) << checked.out;
}

}  // namespace
}  // namespace slipway
