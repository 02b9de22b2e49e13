// Some of ONNX's own cases for a CPU with an accelerator, through server, compile worker and an agent that uses one: PoCL's, and a GPU of
// CUDA that is a fake and interprets the code. All of them: onnx_backend_test --via server --engine x86-64-v3-linux,opencl, or
// x86-64-v3-linux,cuda-sm80. Debian's package libonnx-testdata has the cases; skipped without it.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/gpu_cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"
#include "tests/conformance/expect_cases.h"
#include "tests/conformance/run_cases.h"

namespace slipway {
namespace {

constexpr char kCases[] = "/usr/share/libonnx-testdata/data/node";

struct Accelerator {
  const char* name;
  const char* target;
  absl::StatusOr<std::unique_ptr<testing::Cluster>> (*start)();
};

const Accelerator kAccelerators[] = {
    {"OpenCl", "x86-64-linux,opencl",
     [] { return testing::Cluster::Start({.agent_flags = {"--accelerator=opencl"}}); }},
    {"Cuda", "x86-64-linux,cuda-sm80", [] { return testing::StartGpuCluster({}); }},
};

class AcceleratorCasesTest : public ::testing::TestWithParam<Accelerator> {};

TEST_P(AcceleratorCasesTest, JobsMakeWhatIsExpected) {
  if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  // Each kind of loops, several entries a kernel, places counted from the end, what the host does in between, and bodies.
  constexpr char kFew[] =
      "test_(add$|relu$|matmul_2d|conv_with_strides_no|softmax_axis_1$|reduce_mean_default|"
      "logsoftmax_axis_0$|gather_2d|gather_negative|"
      "concat_2d_axis_0|transpose_all|nonzero|if$|layer_normalization_2d_axis0$|maxpool_2d_d|topk$|"
      "cast_FLOAT_to_DOUBLE$)";
  ASSERT_OK_AND_ASSIGN(const std::vector<BackendCase> cases, FindBackendCases(kCases, kFew));
  ASSERT_GE(cases.size(), 14u);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<testing::Cluster> cluster, GetParam().start());
  const std::vector<CaseResult> results =
      RunCases(cases,
               [&](const BackendCase& one) {
                 return RunBackendCase(
                     one, *MakeServerEngine(cluster->address(), GetParam().target), Tolerance());
               },
               {.jobs = 2});
  ExpectCasesPass(results, results.size());
  EXPECT_OK(cluster->StopAll());
}

INSTANTIATE_TEST_SUITE_P(All, AcceleratorCasesTest, ::testing::ValuesIn(kAccelerators),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace slipway
