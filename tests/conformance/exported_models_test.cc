// Models of every kind, exported from PyTorch with seeded weights, and ensembles of trees through compiler and runtime: they
// make what ONNX Runtime does, those with free extents compiled once for all sizes. Skipped, by the names of what is absent,
// where PyTorch or ONNX Runtime are not installed.
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "core/target/target.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"
#include "tests/conformance/run_cases.h"

namespace slipway {
namespace {

using ::slipway::testing::CommandResult;
using ::slipway::testing::RunCommand;
using ::slipway::testing::RunfilePath;

constexpr int kPackagesAbsent = 77;
constexpr absl::Duration kDeadline = absl::Minutes(10);  // Of one model.

// Each step from float to int8 may fall to the one side or to the other of a half.
Tolerance ToleranceOf(const std::string& name) {
  for (const char* quantized : {".dynamic", ".qdq", ".qoperator"}) {
    if (absl::EndsWith(name, quantized)) return {.relative = 0.05, .absolute = 0.05};
  }
  return {.relative = 2e-3, .absolute = 2e-4};
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
  ASSERT_GE(cases->size(), 80u);
  const auto run = [](const BackendCase& backend_case) {
    const auto engine = MakeCompiledEngine(HostTarget());
    return RunBackendCase(backend_case, *engine, ToleranceOf(backend_case.name));
  };
  for (const CaseResult& result : RunCases(*cases, run, {.jobs = 2, .deadline = kDeadline})) {
    SCOPED_TRACE(result.name);
    EXPECT_EQ(Name(result.verdict), "passed") << result.reason;
  }
}

}  // namespace
}  // namespace slipway
