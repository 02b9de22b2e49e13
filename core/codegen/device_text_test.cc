// Kernels of Halide as texts of devices: what launches are and what they take is the same in all languages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/base/status_macros.h"
#include "core/codegen/device_lowering.h"
#include "core/codegen/device_module.h"
#include "core/codegen/halide_target.h"
#include "core/codegen/opencl_text.h"
#include "core/codegen/ptx_text.h"
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

struct Language {
  const char* name;
  const char* target;
  absl::StatusOr<DeviceKernel> (*text_of)(const DeviceModule&, const DeviceTarget&);
  const char* entry;  // What declares one.
};

constexpr Language kOpenCl = {
    "OpenCl", "x86-64-linux,opencl",
    [](const DeviceModule& module, const DeviceTarget&) { return OpenClTextOf(module); },
    "__kernel void "};
constexpr Language kPtx = {"Ptx", "x86-64-linux,cuda-sm80", PtxTextOf, ".visible .entry "};

absl::StatusOr<DeviceKernel> Compile(const Language& language, Func output,
                                     const ImageParam& input) {
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(language.target));
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Target halide, HalideTargetFor(target.devices[1]));
  Halide::Pipeline pipeline(output);
  const auto stores = std::make_shared<DeviceStores>();
  pipeline.add_custom_lowering_pass(new LowerForDevice(stores));
  SLIPWAY_ASSIGN_OR_RETURN(
      const DeviceModule module,
      ReadDeviceModule(pipeline.compile_to_module({input}, "f", halide), *stores, "k"));
  return language.text_of(module, target.devices[1]);
}

class DeviceTextTest : public ::testing::TestWithParam<Language> {
 protected:
  static absl::StatusOr<DeviceKernel> TextOf(Func output, const ImageParam& input) {
    output.output_buffer().dim(0).set_bounds(0, kExtent).set_stride(1);
    return Compile(GetParam(), output, input);
  }
};

INSTANTIATE_TEST_SUITE_P(Languages, DeviceTextTest, ::testing::Values(kOpenCl, kPtx),
                         [](const auto& info) { return info.param.name; });

void Map(Func func, const Var& x) {
  Var block, thread;
  func.gpu_tile(x, block, thread, 64, TailStrategy::GuardWithIf);
}

TEST_P(DeviceTextTest, LaunchesEntriesWithPointersAlone) {
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
    EXPECT_THAT(kernel.text, HasSubstr(GetParam().entry + launch.entry + "("));
  }
  EXPECT_EQ(kernel.launches[0].entry, "k_0");
  EXPECT_THAT(kernel.text, AllOf(Not(HasSubstr("__shared")), Not(HasSubstr("_kernel_"))));
  EXPECT_THAT(kernel.preamble, Not(HasSubstr(GetParam().entry)));
}

TEST_P(DeviceTextTest, TablesLieInTheText) {
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
  const bool is_opencl = GetParam().text_of == kOpenCl.text_of;
  EXPECT_THAT(kernel.text,
              HasSubstr(is_opencl ? "__constant const uint" : ".global .align 16 .b32 k_0_table_"));
  EXPECT_THAT(kernel.text, HasSubstr(is_opencl ? "0x63ul,0x62ul" : "0x63,0x62"));
}

// What hangs on nothing is moved out of loops, and would be an argument.
TEST_P(DeviceTextTest, ConstantsLieInTheText) {
  const ImageParam input = Input();
  Var x("x");
  Func output("output");
  output(x) = Halide::Internal::halide_log(input(x));
  Map(output, x);
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  ASSERT_EQ(kernel.launches.size(), 1u);
  EXPECT_THAT(kernel.launches[0].reads, ElementsAre(DeviceArgument{Kind::kInput, 0}));
}

TEST_P(DeviceTextTest, WideRemaindersKeepAllBits) {
  const ImageParam input = Input();
  Var x("x");
  Func output("output");
  const Halide::Expr bits = Halide::cast<uint64_t>(input(x));
  output(x) = bits % Halide::Expr(uint64_t{1} << 62);
  Map(output, x);
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  if (GetParam().text_of == kOpenCl.text_of) {
    EXPECT_THAT(kernel.text, AllOf(HasSubstr("<<"), HasSubstr(">>"), Not(HasSubstr(" & "))));
  } else {
    EXPECT_THAT(kernel.text, HasSubstr("4611686018427387903"));
  }
}

// By the schedules for GPUs.
absl::Status Schedule(const Language& language, const Anchor& anchor, Func output) {
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(language.target));
  return KernelScheduler(DescribeMachine(target.devices[1]))(anchor, output);
}

TEST_P(DeviceTextTest, AProductIsSummedWhereItIsMade) {
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
  ASSERT_OK(Schedule(GetParam(), {AnchorKind::kMatrixProduct, stages}, output));
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  EXPECT_EQ(kernel.launches.size(), 1u);
  EXPECT_THAT(kernel.scratch_bytes, ElementsAre());
}

TEST_P(DeviceTextTest, WhatARowSharesIsLaunchedBeforeIt) {
  const ImageParam input = Input();
  Var x("x");
  const Halide::RDom k(0, kExtent);
  Func sum("sum"), output("output");
  sum() = 0.0f;
  sum() += input(k);
  output(x) = input(x) / sum();
  RowStages stages;
  stages.reductions.push_back({.total = sum, .partial = {}, .lanes = 1});
  ASSERT_OK(Schedule(GetParam(), {AnchorKind::kRows, stages}, output));
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  ASSERT_EQ(kernel.launches.size(), 3u);
  EXPECT_THAT(kernel.launches[0].groups, ElementsAre(1, 1, 1));
  EXPECT_THAT(kernel.launches[0].group, ElementsAre(1, 1, 1));
  EXPECT_THAT(kernel.launches[2].groups, ElementsAre(2, 1, 1));
  EXPECT_THAT(kernel.scratch_bytes, ElementsAre(64));
}

TEST_P(DeviceTextTest, WhatTheHostWouldComputeIsRefused) {
  const ImageParam input = Input();
  Var x("x");
  Func output("output");
  output(x) = input(x) * 2;
  EXPECT_THAT(TextOf(output, input), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("host")));
}

TEST_P(DeviceTextTest, LaunchesThatHangOnARunAreRefused) {
  ImageParam input(Halide::Float(32), 1, "input0");
  Var x("x");
  Func output("output");
  output(x) = input(x) * 2;
  Map(output, x);
  EXPECT_THAT(Compile(GetParam(), output, input),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("only a run knows")));
}

// An update writes what its first definition wrote, and each of them is a launch.
TEST_P(DeviceTextTest, UpdatesWriteWhatTheyRead) {
  const ImageParam input = Input();
  Var x("x");
  Func output("output");
  output(x) = input(x);
  output(x) += input(kExtent - 1 - x);
  Map(output, x);
  Var block, thread;
  output.update().gpu_tile(x, block, thread, 64, TailStrategy::GuardWithIf);
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, TextOf(output, input));
  ASSERT_EQ(kernel.launches.size(), 2u);
  for (const EntryLaunch& launch : kernel.launches) {
    EXPECT_THAT(launch.reads, ElementsAre(DeviceArgument{Kind::kInput, 0}));
    EXPECT_THAT(launch.writes, ElementsAre(DeviceArgument{Kind::kOutput, 0}));
  }
}

DeviceModule OneLaunch(const std::string& text) {
  ModuleLaunch launch{
      .name_in_text = "f", .launch = {}, .parameters = 2, .order = {1, 0}, .tables = {}};
  launch.launch.entry = "k_0";
  return {.text = "//\n.version 7.0\n.target sm_80\n.address_size 64\n" + text,
          .scratch_bytes = {},
          .launches = {launch}};
}

const DeviceTarget kGpu = {.arch = Arch::kCuda, .os = Os::kNone, .level = 80};

// What is read comes first.
TEST(PtxText, ParametersAreOrderedAnew) {
  ASSERT_OK_AND_ASSIGN(
      const DeviceKernel kernel,
      PtxTextOf(
          OneLaunch("\t// .globl f\n.visible .entry f(\n\t.param .u64 f_param_0,\n\t.param .u64 "
                    "f_param_1\n)\n{\n\tld.param.u64 \t%rd1, [f_param_0];\n\tld.param.u64 "
                    "\t%rd2, [f_param_1];\n\tret;\n}\n"),
          kGpu));
  EXPECT_EQ(kernel.preamble, ".version 7.0\n.target sm_80\n.address_size 64\n");
  EXPECT_EQ(kernel.text,
            ".visible .entry k_0(\n\t.param .u64 .ptr .global .align 1 k_0_param_0,\n"
            "\t.param .u64 .ptr .global .align 1 k_0_param_1\n)\n{\n"
            "\tld.param.u64 \t%rd1, [k_0_param_1];\n\tld.param.u64 \t%rd2, [k_0_param_0];\n"
            "\tret;\n}\n");
}

// So that a text has kernels beside it that are for one capability alone.
TEST(PtxText, IsForTheCapabilityAlone) {
  DeviceTarget gpu = kGpu;
  gpu.level = 90;
  gpu.is_specific = true;
  const std::string entry =
      ".visible .entry f(\n\t.param .u64 f_param_0,\n\t.param .u64 f_param_1\n)\n{\n\tret;\n}\n";
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, PtxTextOf(OneLaunch(entry), gpu));
  EXPECT_EQ(kernel.preamble, ".version 8.0\n.target sm_90a\n.address_size 64\n");
}

TEST(PtxText, WhatNeedsMoreThanItsEntriesIsRefused) {
  EXPECT_THAT(PtxTextOf(OneLaunch(".extern .func f_of_a_library\n()\n;\n"), kGpu),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("f_of_a_library")));
  EXPECT_THAT(PtxTextOf(OneLaunch(""), kGpu),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("no text")));
  EXPECT_THAT(PtxTextOf(OneLaunch(".visible .entry f(\n\t.param .u64 f_param_0,\n\t.param .f32 "
                                  "f_param_1\n)\n{\n\tret;\n}\n"),
                        kGpu),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("else than tensors")));
}

}  // namespace
}  // namespace slipway
