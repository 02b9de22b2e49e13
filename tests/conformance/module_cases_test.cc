// ONNX's own cases as exports for WebAssembly, in Node. Debian's package libonnx-testdata has them; skipped without it.
#include <filesystem>
#include <string>
#include <vector>

#include "core/target/target.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"
#include "tests/conformance/expect_cases.h"
#include "tests/conformance/run_cases.h"

namespace slipway {
namespace {

constexpr char kCases[] = "/usr/share/libonnx-testdata/data/";

// Runs the cases of a folder whose names contain `which`; as many as `expected` must pass, and none fail.
void RunCasesOf(const std::string& folder, const std::string& which, size_t expected) {
  SCOPED_TRACE(folder);
  ASSERT_OK_AND_ASSIGN(const std::vector<BackendCase> cases,
                       FindBackendCases(kCases + folder, which));
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("wasm-32-wasi-simd128"));
  const std::vector<CaseResult> results =
      RunCases(cases,
               [&](const BackendCase& one) {
                 return RunBackendCase(one, *MakeCompiledEngine(target, RunInNode), Tolerance());
               },
               {.jobs = 2});
  ExpectCasesPass(results, expected);
}

class ModuleCasesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  }
};

// Kernels of every sort that is exported: lowered, and linked in.
TEST_F(ModuleCasesTest, Few) {
  RunCasesOf("node",
             "test_(add$|relu|matmul_2d|conv_with|softmax_axis_1|maxpool_2d_default|gru_defaults|"
             "topk$|cast_FLOAT_to_DOUBLE$|einsum_sum|if$)",
             11);
}

TEST_F(ModuleCasesTest, All) {
  // No value is wrong. What is missing is what exports do not have: sizes found out while running, and open extents.
  RunCasesOf("node", "", 790);
  RunCasesOf("pytorch-operator", "", 35);
  RunCasesOf("pytorch-converted", "", 82);
  RunCasesOf("simple", "", 12);
}

}  // namespace
}  // namespace slipway
