// ONNX's own backend-test cases through compiler and runtime: what is supported passes. Debian's
// package libonnx-testdata has them; skipped without it.
#include <filesystem>
#include <string>

#include "core/target/target.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

constexpr char kCases[] = "/usr/share/libonnx-testdata/data/";

// Runs every case of a folder; at least `expected` must pass and none fail.
void RunFolder(const std::string& folder, const Target& target, int expected) {
  SCOPED_TRACE(target.ToString());
  const auto cases = FindBackendCases(kCases + folder);
  ASSERT_OK(cases.status());
  int passed = 0;
  for (const BackendCase& backend_case : *cases) {
    const auto engine = MakeCompiledEngine(target);
    const CaseResult result = RunBackendCase(backend_case, *engine, Tolerance());
    EXPECT_NE(Name(result.verdict), "failed") << result.name << ": " << result.reason;
    passed += result.verdict == CaseResult::Verdict::kPassed;
  }
  EXPECT_GE(passed, expected);
}

TEST(CompiledCasesTest, SingleOperators) {
  if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  RunFolder("node", HostTarget(), 912);
  RunFolder("pytorch-operator", HostTarget(), 35);
  RunFolder("simple", HostTarget(), 22);
}

TEST(CompiledCasesTest, LayersAtEveryLevelOfThisMachine) {
  if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  for (const char* name :
       {"x86-64-linux", "x86-64-v2-linux", "x86-64-v3-linux", "x86-64-v4-linux"}) {
    const auto target = ParseTarget(name);
    ASSERT_OK(target.status());
    if (CheckRunsOn(*target, HostTarget()).ok()) RunFolder("pytorch-converted", *target, 80);
  }
}

}  // namespace
}  // namespace slipway
