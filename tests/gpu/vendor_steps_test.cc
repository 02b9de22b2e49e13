// What artifacts for CUDA tell of steps that vendors' libraries could make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/artifact/program_steps.h"
#include "core/artifact/vendor_step.h"
#include "core/tensor/precision.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kCuda[] = "x86-64-linux,cuda-sm80";

class VendorStepsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create()); }

  std::vector<std::string> Described(const std::string& graph,
                                     Precision precision = Precision::kTensorFloat32,
                                     const std::string& target = kCuda) {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(graph, target, precision);
    EXPECT_OK(compiled.status());
    if (!compiled.ok()) return {};
    std::vector<std::string> described;
    for (const VendorStep& step : VendorStepsOf(compiled->artifact)) {
      described.push_back(DescribeVendorStep(step));
    }
    return described;
  }

  std::unique_ptr<GraphCompiler> compiler_;
};

TEST_F(VendorStepsTest, APlainProductIsDescribedInEveryPrecision) {
  const std::string graph = R"(graph "g" (%a: f32[37, 53], %b: f32[53, 45]) -> (%y) {
  %y = MatMul(%a, %b)
})";
  const std::string rest = " 1x37x45x53 f32(0,53,1) f32(0,45,1)";
  EXPECT_THAT(Described(graph, Precision::kFloat32), ElementsAre("f32" + rest));
  EXPECT_THAT(Described(graph, Precision::kTensorFloat32), ElementsAre("tf32" + rest));
  EXPECT_THAT(Described(graph, Precision::kFloat16), ElementsAre("f16" + rest));
  EXPECT_THAT(Described(graph, Precision::kBfloat16), ElementsAre("bf16" + rest));
  EXPECT_THAT(Described(graph, Precision::kFloat32, "x86-64-linux,opencl"), IsEmpty());
}

TEST_F(VendorStepsTest, WhatIsBehindAProductIsWhatTheLibraryDoes) {
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[19, 33], %b: f32[33, 50], %c: f32[50]) -> (%y) {
  %p = MatMul(%a, %b)
  %s = Add(%c, %p)
  %y = Gelu(%s) {approximate = "tanh"}
})"),
              ElementsAre("tf32 1x19x50x33 f32(0,33,1) f32(0,50,1) bias gelu"));
  EXPECT_THAT(
      Described(
          R"(graph "g" (%a: f32[19, 33], %b: f32[33, 50], %c: f32[50], %r: f32[19, 50]) -> (%y) {
  %p = Gemm(%a, %b, %c)
  %s = Add(%p, %r)
  %y = Relu(%s)
})"),
      ElementsAre("tf32 1x19x50x33 f32(0,33,1) f32(0,50,1) bias added relu"));
  EXPECT_THAT(Described(R"(graph "g" (%x: f32[2, 20, 5, 7], %w: f32[33, 20, 1, 1], %b: f32[33],
  %r: f32[2, 33, 5, 7]) -> (%y) {
  %c = Conv(%x, %w, %b)
  %s = Add(%c, %r)
  %y = Relu(%s)
})"),
              ElementsAre("tf32 2x33x35x20 f32(0,20,1) f32(700,35,1) row bias added relu"));
}

TEST_F(VendorStepsTest, WhatTheLibraryDoesNotDoIsNotDescribed) {
  const auto behind = [&](const std::string& operations) {
    return Described(
        R"(graph "g" (%a: f32[19, 33], %b: f32[33, 50], %c: f32[50], %d: f32[19, 1]) -> (%y) {
  %p = MatMul(%a, %b)
)" + operations +
        "\n}");
  };
  EXPECT_THAT(behind("  %y = Gelu(%p)"), IsEmpty());  // By the error function.
  EXPECT_THAT(behind("  %y = Mul(%p, %c)"), IsEmpty());
  EXPECT_THAT(behind("  %y = Sub(%c, %p)"), IsEmpty());
  EXPECT_THAT(behind("  %r = Relu(%p)\n  %y = Add(%r, %c)"), IsEmpty());
  EXPECT_THAT(behind("  %y = Add(%p, %p)"), IsEmpty());
  EXPECT_THAT(behind("  %s = Add(%p, %c)\n  %y = Add(%s, %c)"), IsEmpty());
  EXPECT_THAT(behind("  %y = Add(%p, %d)"),
              ElementsAre("tf32 1x19x50x33 f32(0,33,1) f32(0,50,1) row bias"));
  // Windows, and rows of a batch that repeat.
  EXPECT_THAT(Described(R"(graph "g" (%x: f32[1, 5, 13, 11], %w: f32[18, 5, 3, 2]) -> (%y) {
  %y = Conv(%x, %w)
})"),
              IsEmpty());
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[2, 1, 9, 8], %b: f32[3, 8, 10]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              IsEmpty());
}

TEST_F(VendorStepsTest, BatchesHaveOneStride) {
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[2, 3, 17, 20], %b: f32[2, 3, 20, 18]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              ElementsAre("tf32 6x17x18x20 f32(340,20,1) f32(360,18,1)"));
  // Rows of one matrix.
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[2, 3, 5, 20], %b: f32[20, 24]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              ElementsAre("tf32 1x30x24x20 f32(0,20,1) f32(0,24,1)"));
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[36], %b: f32[4, 36, 1]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              ElementsAre("tf32 4x1x1x36 f32(0,36,1) f32(36,1,36)"));
}

// Of constants, f16 lies as its own kernel wants it.
TEST_F(VendorStepsTest, WeightsAreDescribedAsTheyAreLaidOut) {
  const std::string graph = R"(graph "g" (%x: f32[37, 72]) -> (%y) {
  const %k: f32[] = {0.5}
  const %shape: i64[2] = {72, 64}
  %w = Expand(%k, %shape)
  %y = MatMul(%x, %w)
})";
  EXPECT_THAT(Described(graph, Precision::kFloat16),
              ElementsAre("f16 1x37x64x72 f32(0,72,1) f16(0,1,72)"));
  EXPECT_THAT(Described(graph, Precision::kTensorFloat32),
              ElementsAre("tf32 1x37x64x72 f32(0,72,1) f32(0,1,72)"));
}

// A product whose depth is divided has two launches, which the library's call stands for.
TEST_F(VendorStepsTest, AllLaunchesOfAProductAreNamed) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler_->Compile(R"(graph "g" (%a: f32[32, 4096], %b: f32[4096, 32]) -> (%y) {
  %n = Neg(%a)
  %y = MatMul(%n, %b)
})",
                         kCuda, Precision::kTensorFloat32));
  const std::vector<VendorStep> described = VendorStepsOf(compiled.artifact);
  ASSERT_EQ(described.size(), 1u);
  EXPECT_EQ(described[0].steps, 2u);
  const std::vector<StepInfo> steps = StepsOf(compiled.artifact);
  EXPECT_THAT(steps[described[0].first].name, ::testing::EndsWith(", 1 of 2"));
  EXPECT_THAT(steps[described[0].end() - 1].name, ::testing::EndsWith(", 2 of 2"));
}

}  // namespace
}  // namespace slipway::testing
