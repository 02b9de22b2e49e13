// Programs for a CPU with a device beside it, compiled here and run in another process, against core/reference: those of OpenCL by PoCL,
// those of CUDA by a libcuda without a GPU, which interprets their PTX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/tensor/comparison.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/graphs.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

const std::string kOpenCl = "x86-64-linux,opencl";
const std::string kCuda = "x86-64-linux,cuda-sm80";
constexpr int64_t kMaxBytes = int64_t{1} << 30;

class GpuProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create());
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("gpu"));
  }

  // What the device computes of random inputs is what the reference does.
  void CheckRuns(const CompiledGraph& compiled) {
    const std::vector<Tensor> inputs = RandomInputs(compiled.graph, 7);
    ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> outputs,
        RunElsewhere(compiled.artifact, inputs, compiled.graph.outputs.size(), folder_.path()));
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         compiler_->tester().reference().Evaluate(compiled.graph, inputs));
    ASSERT_EQ(outputs.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_OK(CheckClose(outputs[i], expected[i], {})) << "output " << i;
    }
  }

  std::unique_ptr<GraphCompiler> compiler_;
  TemporaryFolder folder_;
};

class SmallGraphTest : public GpuProgramTest,
                       public ::testing::WithParamInterface<std::tuple<std::string, SmallGraph>> {};

TEST_P(SmallGraphTest, ComputesWhatTheReferenceDoes) {
  const auto& [target, graph] = GetParam();
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled, compiler_->Compile(graph.text, target));
  const int on_device = target == kOpenCl ? graph.of_opencl : graph.of_cuda;
  EXPECT_THAT(compiled.notes, StartsWith(absl::StrCat(on_device, " of ")));
  CheckRuns(compiled);
}

INSTANTIATE_TEST_SUITE_P(All, SmallGraphTest,
                         ::testing::Combine(::testing::Values(kOpenCl, kCuda),
                                            ::testing::ValuesIn(SmallGraphs().begin(),
                                                                SmallGraphs().end())),
                         [](const auto& info) {
                           const bool is_opencl = std::get<0>(info.param) == kOpenCl;
                           return absl::StrCat(is_opencl ? "opencl_" : "cuda_",
                                               std::get<1>(info.param).name);
                         });

// What the runtime asks of the driver's library: the host waits for the device and the device for the host, in the order of the steps.
TEST_F(GpuProgramTest, HostAndDeviceTakeTurns) {
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                       compiler_->Compile(R"(graph "g" (%m: f32[5, 6]) -> (%y) {
    %a = Exp(%m)
    const %k: i64[1] = {2}
    %sorted, %places = TopK(%a, %k)
    %y = Sigmoid(%sorted)
  })",
                                          kCuda));
  CheckRuns(compiled);
  ASSERT_OK_AND_ASSIGN(const std::string trace,
                       ReadFile(JoinPath(folder_.path(), "trace"), kMaxBytes));
  std::vector<std::string> lines = absl::StrSplit(trace, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size() % 2, 0u) << trace;
  const std::vector<std::string> second(lines.begin() + static_cast<int64_t>(lines.size() / 2),
                                        lines.end());
  lines.resize(lines.size() / 2);
  // A run does what the one before it did.
  EXPECT_EQ(lines, second);
  EXPECT_THAT(
      lines, ElementsAre(MatchesRegex("stream [0-9]+: copy of 120 bytes from the host to m[0-9+]+"),
                         MatchesRegex("stream [0-9]+: .*_0\\(.*\\), 1x1x1 groups of 64x1x1"),
                         MatchesRegex("stream [0-9]+: copy of 120 bytes from m[0-9+]+ to the host"),
                         MatchesRegex("stream [0-9]+: copy of 40 bytes from the host to m[0-9+]+"),
                         MatchesRegex("stream [0-9]+: .*_0\\(.*\\), 1x1x1 groups of 64x1x1"),
                         MatchesRegex("stream [0-9]+: copy of 40 bytes from m[0-9+]+ to the host")))
      << trace;
}

}  // namespace
}  // namespace slipway::testing
