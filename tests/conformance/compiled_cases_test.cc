// ONNX's own backend-test cases of single operators through compiler and runtime: what is supported
// passes. Debian's package libonnx-testdata has them; skipped without it.
#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

constexpr char kCases[] = "/usr/share/libonnx-testdata/data/node";

TEST(CompiledCasesTest, EverySupportedCasePasses) {
  if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  const auto cases = FindBackendCases(kCases);
  ASSERT_OK(cases.status());
  int passed = 0;
  for (const BackendCase& backend_case : *cases) {
    const auto engine = MakeCompiledEngine();
    const CaseResult result = RunBackendCase(backend_case, *engine, Tolerance());
    EXPECT_NE(Name(result.verdict), "failed") << result.name << ": " << result.reason;
    passed += result.verdict == CaseResult::Verdict::kPassed;
  }
  EXPECT_GE(passed, 290);
}

}  // namespace
}  // namespace slipway
