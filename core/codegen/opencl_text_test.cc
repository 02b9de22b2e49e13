#include "core/codegen/opencl_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "core/base/status_macros.h"
#include "core/codegen/opencl_lowering.h"
#include "core/codegen/schedules/schedule_list.h"
#include "core/target/machine_description.h"
#include "core/target/target.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using Halide::Func;
using Halide::ImageParam;
using Halide::TailStrategy;
using Halide::Var;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = DeviceArgument::Kind;

constexpr int kExtent = 100;

// input0[100] in dense memory.
ImageParam Input() {
  ImageParam input(Halide::Float(32), 1, "input0");
  input.dim(0).set_bounds(0, kExtent).set_stride(1);
  return input;
}

absl::StatusOr<DeviceKernel> TextOf(Func output, const ImageParam& input) {
  output.output_buffer().dim(0).set_bounds(0, kExtent).set_stride(1);
  const Halide::Target target("x86-64-linux-opencl-no_runtime-no_asserts-no_bounds_query");
  Halide::Pipeline pipeline(output);
  pipeline.add_custom_lowering_pass(new LowerForOpenCl);
  return OpenClTextOf(pipeline.compile_to_module({input}, "f", target), "k");
}

void Map(Func func, const Var& x) {
  Var block, thread;
  func.gpu_tile(x, block, thread, 64, TailStrategy::GuardWithIf);
}

TEST(OpenClText, LaunchesEntriesWithPointersAlone) {
  const ImageParam input = Input();
  Var x("x");
  Func doubled("doubled"), output("output");
  doubled(x) = input(x) * 2;
  output(x) = doubled(x) + doubled(kExtent - 1 - x);
  doubled.compute_root();
  Map(doubled, x);
  Map(output, x);
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  EXPECT_THAT(kernel.scratch_bytes, ElementsAre(448));  // 400, in units of 64.
  ASSERT_EQ(kernel.launches.size(), 2u);
  EXPECT_THAT(kernel.launches[0].reads, ElementsAre(DeviceArgument{Kind::kInput, 0}));
  EXPECT_THAT(kernel.launches[0].writes, ElementsAre(DeviceArgument{Kind::kScratch, 0}));
  EXPECT_THAT(kernel.launches[1].reads, ElementsAre(DeviceArgument{Kind::kScratch, 0}));
  EXPECT_THAT(kernel.launches[1].writes, ElementsAre(DeviceArgument{Kind::kOutput, 0}));
  for (const EntryLaunch& launch : kernel.launches) {
    EXPECT_THAT(launch.groups, ElementsAre(2, 1, 1));
    EXPECT_THAT(launch.group, ElementsAre(64, 1, 1));
    EXPECT_THAT(kernel.text, HasSubstr("__kernel void " + launch.entry + "("));
  }
  EXPECT_EQ(kernel.launches[0].entry, "k_0");
  EXPECT_THAT(kernel.text, Not(HasSubstr("__shared")));
  EXPECT_THAT(kernel.preamble, AllOf(HasSubstr("float_from_bits"), Not(HasSubstr("__kernel"))));
}

TEST(OpenClText, TablesLieInTheText) {
  const ImageParam input = Input();
  Halide::Buffer<int> table(kExtent);
  for (int i = 0; i < kExtent; ++i) table(i) = kExtent - 1 - i;
  Var x("x");
  Func output("output");
  output(x) = input(Halide::clamp(table(x), 0, kExtent - 1));
  Map(output, x);
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  ASSERT_EQ(kernel.launches.size(), 1u);
  EXPECT_THAT(kernel.launches[0].reads, ElementsAre(DeviceArgument{Kind::kInput, 0}));
  EXPECT_THAT(kernel.text, AllOf(HasSubstr("__constant const uint"), HasSubstr("0x63ul,0x62ul")));
}

// What hangs on nothing is moved out of loops, and would be an argument.
TEST(OpenClText, ConstantsLieInTheText) {
  const ImageParam input = Input();
  Var x("x");
  Func output("output");
  output(x) = Halide::Internal::halide_log(input(x));
  Map(output, x);
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  ASSERT_EQ(kernel.launches.size(), 1u);
  EXPECT_THAT(kernel.launches[0].reads, ElementsAre(DeviceArgument{Kind::kInput, 0}));
}

TEST(OpenClText, WideRemaindersKeepAllBits) {
  const ImageParam input = Input();
  Var x("x");
  Func output("output");
  const Halide::Expr bits = Halide::cast<uint64_t>(input(x));
  output(x) = bits % Halide::Expr(uint64_t{1} << 62);
  Map(output, x);
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  EXPECT_THAT(kernel.text, AllOf(HasSubstr("<<"), HasSubstr(">>"), Not(HasSubstr(" & "))));
}

// By the schedules for GPUs.
absl::StatusOr<DeviceKernel> TextOfScheduled(const Anchor& anchor, Func output,
                                             const ImageParam& input) {
  const Target target = *ParseTarget("x86-64-linux,opencl");
  SLIPWAY_RETURN_IF_ERROR(KernelScheduler(DescribeMachine(target.devices[1]))(anchor, output));
  return TextOf(output, input);
}

TEST(OpenClText, AProductIsSummedWhereItIsMade) {
  const ImageParam input = Input();
  Var x("x");
  const Halide::RDom k(0, 7);
  Func sum("sum"), output("output");
  sum(x) = 0.0f;
  sum(x) += input(Halide::clamp(x + k, 0, kExtent - 1)) * input(k);
  output(x) = sum(x) + 1;
  MatrixStages stages;
  stages.accumulator = sum;
  stages.reduction = k;
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel,
                       TextOfScheduled({AnchorKind::kMatrixProduct, stages}, output, input));
  EXPECT_EQ(kernel.launches.size(), 1u);
  EXPECT_THAT(kernel.scratch_bytes, ElementsAre());
}

TEST(OpenClText, WhatARowSharesIsLaunchedBeforeIt) {
  const ImageParam input = Input();
  Var x("x");
  const Halide::RDom k(0, kExtent);
  Func sum("sum"), output("output");
  sum() = 0.0f;
  sum() += input(k);
  output(x) = input(x) / sum();
  RowStages stages;
  stages.reductions.push_back({.total = sum, .partial = {}, .lanes = 1});
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel,
                       TextOfScheduled({AnchorKind::kRows, stages}, output, input));
  ASSERT_EQ(kernel.launches.size(), 3u);
  EXPECT_THAT(kernel.launches[0].groups, ElementsAre(1, 1, 1));
  EXPECT_THAT(kernel.launches[0].group, ElementsAre(1, 1, 1));
  EXPECT_THAT(kernel.launches[2].groups, ElementsAre(2, 1, 1));
  EXPECT_THAT(kernel.scratch_bytes, ElementsAre(64));
}

TEST(OpenClText, WhatTheHostWouldComputeIsRefused) {
  const ImageParam input = Input();
  Var x("x");
  Func output("output");
  output(x) = input(x) * 2;
  EXPECT_THAT(TextOf(output, input), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("host")));
}

TEST(OpenClText, LaunchesThatHangOnARunAreRefused) {
  ImageParam input(Halide::Float(32), 1, "input0");
  Var x("x");
  Func output("output");
  output(x) = input(x) * 2;
  Map(output, x);
  const Halide::Target target("x86-64-linux-opencl-no_runtime-no_asserts-no_bounds_query");
  EXPECT_THAT(OpenClTextOf(Halide::Pipeline(output).compile_to_module({input}, "f", target), "k"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("only a run knows")));
}

}  // namespace
}  // namespace slipway
