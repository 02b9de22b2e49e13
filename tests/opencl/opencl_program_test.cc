// Programs for a CPU with an OpenCL device, compiled here and run in another process by PoCL, against core/reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/artifact/slip_file.h"
#include "core/backends/opencl/opencl_backend.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/passes/pipeline.h"
#include "core/passes/testing/pass_tester.h"
#include "core/target/target.h"
#include "core/tensor/comparison.h"
#include "core/tensor/npy.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::StartsWith;

class OpenClProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    environment_.registry = &tester_.registry();
    environment_.clock = &clock_;
    ASSERT_OK_AND_ASSIGN(backend_, CreateOpenClBackend(environment_));
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("opencl"));
  }

  // What the device computes of random inputs is what the reference does. `on_device` kernels are the device's.
  void Check(absl::string_view text, int on_device) {
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Graph graph, tester_.Parse(text));
    ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("x86-64-linux,opencl"));
    ASSERT_OK(backend_->CheckTarget(target));
    ASSERT_OK_AND_ASSIGN(
        const PipelineResult lowered,
        RunPipeline(graph, backend_->PipelineFor(target), tester_.context(), {}, clock_));
    ASSERT_OK_AND_ASSIGN(const BackendResult result,
                         backend_->Compile({lowered.graph, lowered.memory, target, ""}));
    const auto placing = absl::c_find_if(
        lowered.passes, [](const auto& pass) { return pass.name == "PlaceDevice"; });
    ASSERT_NE(placing, lowered.passes.end());
    EXPECT_THAT(absl::StrJoin(placing->notes, "\n"), StartsWith(absl::StrCat(on_device, " of ")));
    const std::string program = JoinPath(folder_.path(), "program.slip");
    ASSERT_OK(WriteSlip(result.artifact, program));
    const std::vector<Tensor> inputs = RandomInputs(graph, 7);
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_OK_AND_ASSIGN(const std::string bytes, FormatNpy(inputs[i]));
      ASSERT_OK(WriteFileAtomically(JoinPath(folder_.path(), absl::StrCat("input_", i, ".npy")),
                                    bytes, /*durable=*/false));
    }
    CommandOptions command;
    command.argv = {RunfilePath("tests/opencl/run_program"), program, folder_.path()};
    const CommandResult run = RunCommand(command);
    ASSERT_TRUE(run.status.ok()) << run.ToString();
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester_.reference().Evaluate(graph, inputs));
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_OK_AND_ASSIGN(
          const std::string bytes,
          ReadFile(JoinPath(folder_.path(), absl::StrCat("output_", i, ".npy")), 1 << 30));
      ASSERT_OK_AND_ASSIGN(const Tensor output, ParseNpy(bytes));
      EXPECT_OK(CheckClose(output, expected[i], {})) << "output " << i;
    }
  }

  PassTester tester_;
  SystemClock clock_;
  BackendEnvironment environment_;
  std::unique_ptr<TargetBackend> backend_;
  TemporaryFolder folder_;
};

TEST_F(OpenClProgramTest, EachKindOfLoops) {
  Check(R"(graph "g" (%x: f32[2, 6, 9, 7], %w: f32[4, 6, 3, 3]) -> (%pool, %mean) {
    %conv = Conv(%x, %w) {pads = [1, 1, 1, 1]}
    %relu = Relu(%conv)
    %pool = MaxPool(%relu) {kernel_shape = [2, 2], strides = [2, 2]}
    %mean = GlobalAveragePool(%pool)
  })",
        3);
  Check(R"(graph "g" (%m: f32[5, 14]) -> (%soft, %joined, %whole) {
    %t = Transpose(%m) {perm = [1, 0]}
    %product = MatMul(%m, %t)
    %soft = Softmax(%product)
    %joined = Concat(%soft, %product) {axis = 1}
    %whole = ReduceMean(%joined) {keepdims = 0}
  })",
        5);
}

// TopK has no lowering, f64 is not every device's, a view moves nothing.
TEST_F(OpenClProgramTest, TheHostDoesWhatTheDeviceDoesNot) {
  Check(R"(graph "g" (%m: f32[5, 6]) -> (%flat, %places, %half) {
    %a = Exp(%m)
    const %k: i64[1] = {2}
    %sorted, %places = TopK(%a, %k)
    %b = Sigmoid(%sorted)
    %flat = Flatten(%b)
    %wide = Cast(%a) {to = 11}
    %half = Mul(%wide, %wide)
  })",
        2);
}

// By tables, integers of 64 bits and constants that Halide moves out of loops.
TEST_F(OpenClProgramTest, FunctionsOfOneElement) {
  Check(R"(graph "g" (%x: f32[3, 50]) -> (%turned, %power, %log) {
    %sin = Sin(%x)
    %cos = Cos(%x)
    %turned = Sub(%sin, %cos)
    %base = Abs(%x)
    %power = Pow(%base, %x)
    %log = Log(%base)
  })",
        5);
}

TEST_F(OpenClProgramTest, InputsMayBeOutputs) {
  Check(R"(graph "g" (%x: f32[3, 4], %y: f32[3, 4]) -> (%z, %x) {
    const %c: f32[4] = {1, 2, 3, 4}
    %s = Add(%x, %y)
    %z = Mul(%s, %c)
  })",
        1);
}

}  // namespace
}  // namespace slipway::testing
