// Small networks, compiled as users' are: which steps they become, and that these compute what core/reference does, within what a precision may cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/tensor/comparison.h"
#include "core/tensor/precision.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/network_graphs.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Precision kPrecisions[] = {Precision::kTensorFloat32, Precision::kFloat16,
                                     Precision::kBfloat16};

// Each of some seven products in a row rounds its factors: of the largest result so many roundings.
Tolerance ErrorOf(Precision type, const Tensor& exact) {
  double largest = 0;
  for (const float value : exact.values<float>()) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return {0, 4 * largest * (type == Precision::kBfloat16 ? 1.0 / 256 : 1.0 / 2048)};
}

std::vector<std::string> DeviceSteps(const Artifact& artifact) {
  std::vector<std::string> steps;
  for (const v1::Function& function : artifact.manifest().proto().functions()) {
    for (const v1::Step& step : function.steps()) {
      if (step.device() != 0 && step.has_kernel()) steps.push_back(step.name());
    }
  }
  return steps;
}

class NetworkTest
    : public ::testing::TestWithParam<std::tuple<const char*, Precision, NetworkGraph>> {};

TEST_P(NetworkTest, RunsOnTensorCores) {
  const auto& [target, precision, network] = GetParam();
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("network"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GraphCompiler> compiler, GraphCompiler::Create());
  ASSERT_OK_AND_ASSIGN(Graph graph, compiler->tester().Parse(network.text));
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                       compiler->Compile(WithWeights(std::move(graph)),
                                         absl::StrCat("x86-64-linux,cuda-", target), precision));
  EXPECT_THAT(compiled.attention, StartsWith("1 attention is one kernel"));
  EXPECT_THAT(compiled.products,
              HasSubstr(absl::StrCat(network.products, " of the device's ", network.products,
                                     " products are of ", Name(precision))));
  EXPECT_EQ(DeviceSteps(compiled.artifact), network.steps);
  const std::vector<Tensor> inputs = RandomInputs(compiled.graph, 7);
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> outputs,
                       RunElsewhere(compiled.artifact, inputs, 1, folder.path()));
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> exact,
                       compiler->tester().reference().Evaluate(compiled.graph, inputs));
  EXPECT_OK(CheckClose(outputs[0], exact[0], ErrorOf(precision, exact[0])));
}

INSTANTIATE_TEST_SUITE_P(
    All, NetworkTest,
    ::testing::Combine(::testing::Values("sm80", "sm90a"), ::testing::ValuesIn(kPrecisions),
                       ::testing::ValuesIn(NetworkGraphs().begin(), NetworkGraphs().end())),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param), "_", Name(std::get<1>(info.param)), "_",
                          std::get<2>(info.param).name);
    });

}  // namespace
}  // namespace slipway::testing
