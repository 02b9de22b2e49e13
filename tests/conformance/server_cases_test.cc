// Some of ONNX's own cases through server, compile worker and agent, as any client's jobs. Debian's package
// libonnx-testdata has them; skipped without it.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"
#include "tests/conformance/expect_cases.h"
#include "tests/conformance/run_cases.h"

namespace slipway {
namespace {

constexpr char kCases[] = "/usr/share/libonnx-testdata/data/node";

TEST(ServerCasesTest, JobsMakeWhatIsExpected) {
  if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  // Kernels of every sort: lowered, linked in, with extents found while running, with bodies.
  constexpr char kFew[] =
      "test_(add|relu|matmul_2d|conv_with|softmax_axis|nonzero|unique_sorted_without|"
      "if$|loop11|reshape_|expand_dim|range_|tile$|slice_neg|maxpool_2d_d|gru_|isnan|"
      "strnormalizer_nostop|cast_STRING_to_FLOAT$)";
  ASSERT_OK_AND_ASSIGN(const std::vector<BackendCase> cases, FindBackendCases(kCases, kFew));
  ASSERT_GE(cases.size(), 36u);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<testing::Cluster> cluster,
                       testing::Cluster::Start({}));
  const std::vector<CaseResult> results =
      RunCases(cases,
               [&](const BackendCase& one) {
                 return RunBackendCase(one, *MakeServerEngine(cluster->address()), Tolerance());
               },
               {.jobs = 4});
  ExpectCasesPass(results, results.size());
  EXPECT_OK(cluster->StopAll());
}

}  // namespace
}  // namespace slipway
