// Models of every kind, exported from PyTorch with seeded weights, through compiler and runtime: they make what ONNX Runtime
// does. Skipped, by the names of what is absent, where PyTorch or ONNX Runtime are not installed.
#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

using ::slipway::testing::CommandResult;
using ::slipway::testing::RunCommand;
using ::slipway::testing::RunfilePath;

constexpr int kPackagesAbsent = 77;

// Each step from float to int8 may fall to the one side or to the other of a half.
Tolerance ToleranceOf(const std::string& name) {
  for (const char* quantized : {".dynamic", ".qdq", ".qoperator"}) {
    if (absl::EndsWith(name, quantized)) return {.relative = 0.05, .absolute = 0.05};
  }
  return {.relative = 2e-3, .absolute = 2e-4};
}

// What models of a kind are refused for.
const std::map<std::string, std::string>& Refused() {
  static const auto& refused = *new std::map<std::string, std::string>{
      {"detector", "needs extents that are known"},
  };
  return refused;
}

TEST(ExportedModelsTest, MakeWhatOnnxRuntimeDoes) {
  const testing::TempTree tree;
  const char* python = std::getenv("SLIPWAY_PYTHON");
  const CommandResult made =
      RunCommand({.argv = {python == nullptr ? "/usr/bin/python3" : python,
                           RunfilePath("tests/models/make_exported_models.py"), tree.path()},
                  .timeout = absl::Minutes(40)});
  if (made.status.exit_code == kPackagesAbsent) GTEST_SKIP() << made.out;
  ASSERT_TRUE(made.status.ok()) << made.ToString();
  const auto cases = FindBackendCases(tree.path());
  ASSERT_OK(cases.status());
  ASSERT_GE(cases->size(), 50u);
  for (const BackendCase& backend_case : *cases) {
    SCOPED_TRACE(backend_case.name);
    const auto engine = MakeCompiledEngine(HostTarget());
    const CaseResult result = RunBackendCase(backend_case, *engine, ToleranceOf(backend_case.name));
    const auto refused = Refused().find(backend_case.name.substr(0, backend_case.name.find('.')));
    if (refused == Refused().end()) {
      EXPECT_EQ(Name(result.verdict), "passed") << result.reason;
    } else {
      EXPECT_EQ(Name(result.verdict), "unsupported");
      EXPECT_THAT(result.reason, ::testing::HasSubstr(refused->second));
    }
  }
}

}  // namespace
}  // namespace slipway
