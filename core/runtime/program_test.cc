#include "core/runtime/program.h"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "core/runtime/drivers/cpu/cpu_driver.h"
#include "core/runtime/load_program.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

// Row 0 is 10, 11, ..., row 1 is 20, 21, ...; the bias adds 0 to 7.
Tensor TestInput() {
  std::vector<float> values;
  for (int row = 1; row <= 2; ++row) {
    for (int column = 0; column < 8; ++column) {
      values.push_back(static_cast<float>(10 * row + column));
    }
  }
  return Tensor::Of<float>({2, 8}, values);
}

std::vector<float> TestOutput() {
  return {10, 12, 14, 16, 18, 20, 22, 24, 20, 22, 24, 26, 28, 30, 32, 34};
}

class ProgramTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ProgramTest, ::testing::Values(1, 4));

TEST_P(ProgramTest, Runs) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kAdd)));
  EXPECT_EQ(program->signature().inputs[0].name, "x");
  ProgramContextOptions options;
  options.threads = GetParam();
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext(options));
  std::vector<Tensor> outputs(1);
  for (int i = 0; i < 100; ++i) {
    if (i > 0) std::ranges::fill(outputs[0].mutable_values<float>(), 0.0f);
    ASSERT_OK(context->Run({TestInput()}, absl::MakeSpan(outputs)));
    EXPECT_THAT(outputs[0].values<float>(), ::testing::ElementsAreArray(TestOutput()));
  }
  EXPECT_TRUE(context->step_timings().empty());
}

TEST_P(ProgramTest, ProfilesWhatItsThreadsDo) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kAdd)));
  ProgramContextOptions options;
  options.threads = GetParam();
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext(options));
  std::vector<Tensor> outputs(1);
  ASSERT_OK(context->Run({TestInput()}, absl::MakeSpan(outputs), {.profile = true}));
  const StepTiming& timing = context->step_timings()[0];
  ASSERT_EQ(timing.threads.size(), GetParam() == 1 ? 0u : 4u);
  int64_t rows = 0;
  for (const ThreadTiming& thread : timing.threads) {
    rows += thread.tasks;
    if (thread.tasks == 0) continue;
    EXPECT_GE(thread.begin_ns, 0);
    EXPECT_LE(thread.end_ns, timing.duration_ns);
  }
  EXPECT_EQ(rows, GetParam() == 1 ? 0 : 2);
}

TEST_P(ProgramTest, AllocatesNothingAfterTheFirstRun) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kAdd)));
  ProgramContextOptions options;
  options.threads = GetParam();
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext(options));
  std::vector<Tensor> outputs(1);
  const std::vector<Tensor> inputs = {TestInput()};
  ASSERT_OK(context->Run(inputs, absl::MakeSpan(outputs)));
  if (GetParam() > 1) return;  // Threads may come to need a block later.
  const struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < 1000; ++i) context->Run(inputs, absl::MakeSpan(outputs)).IgnoreError();
  const struct mallinfo2 after = mallinfo2();
  EXPECT_EQ(after.uordblks, before.uordblks);
}

TEST(Program, SeveralContextsRunAtOnce) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kAdd)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&program] {
      ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
      std::vector<Tensor> outputs(1);
      for (int i = 0; i < 100; ++i) {
        ASSERT_OK(context->Run({TestInput()}, absl::MakeSpan(outputs)));
        ASSERT_EQ(outputs[0].values<float>()[15], 34.0f);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Program, TwoProgramsInOneProcessAreTwo) {
  // Descriptor numbers are used again; the code must not be mistaken for the other's.
  ASSERT_OK_AND_ASSIGN(auto first, LoadProgram(TestProgram(TestKernel::kAdd)));
  EXPECT_FALSE(LoadProgram(TestProgram(TestKernel::kAdd, TestAbi::kOtherAbi)).ok());
  ASSERT_OK_AND_ASSIGN(const auto second, LoadProgram(TestProgram(TestKernel::kAdd)));
  first.reset();
  EXPECT_FALSE(LoadProgram(TestProgram(TestKernel::kAdd, TestAbi::kNoQuery)).ok());
  ASSERT_OK_AND_ASSIGN(const auto context, second->NewContext({}));
  std::vector<Tensor> outputs(1);
  EXPECT_OK(context->Run({TestInput()}, absl::MakeSpan(outputs)));
}

TEST(Program, ProfilesEveryStep) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kSlow)));
  ASSERT_EQ(program->steps().size(), 2u);
  EXPECT_EQ(program->steps()[0].name, "Kernel");
  EXPECT_THAT(program->steps()[0].operators, ElementsAre("Add"));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  std::vector<Tensor> outputs(1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(context->Run({TestInput()}, absl::MakeSpan(outputs), {.profile = true}));
    const absl::Span<const StepTiming> profile = context->step_timings();
    ASSERT_EQ(profile.size(), 2u);
    EXPECT_GT(profile[0].duration_ns, profile[1].duration_ns);
    EXPECT_EQ(profile[0].runs, 1);
    EXPECT_TRUE(profile[0].threads.empty());
    ASSERT_OK(context->Run({TestInput()}, absl::MakeSpan(outputs)));
    EXPECT_TRUE(context->step_timings().empty());
  }
}

TEST(Program, AFailureNamesTheStep) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kFail)));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(
      context->Run({TestInput()}, absl::MakeSpan(outputs)),
      StatusIs(Code::kInternal, "step 0 'Kernel': failed with result 7: this kernel always fails"));
}

TEST(Program, ScratchMemoryEnds) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kEatMemory)));
  ProgramContextOptions options;
  options.scratch_bytes = 256 << 20;
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext(options));
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(context->Run({TestInput()}, absl::MakeSpan(outputs)),
              StatusIs(Code::kResourceExhausted,
                       HasSubstr("no scratch memory left (it may take 268435456 bytes")));
}

TEST(Program, RefusesWrongTensors) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kAdd)));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(context->Run({}, absl::MakeSpan(outputs)),
              StatusIs(Code::kInvalidArgument, "the program has 1 inputs, but 0 are given"));
  EXPECT_THAT(context->Run({Tensor::Zeros(DataType::kFloat32, {2, 9})}, absl::MakeSpan(outputs)),
              StatusIs(Code::kInvalidArgument, "input \"x\" is f32[2, 8], but f32[2, 9] is given"));
  EXPECT_THAT(context->Run({TestInput()}, {}), StatusIs(Code::kInvalidArgument));
}

TEST(Program, RefusesOutputsThatShareMemory) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kAdd)));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  const Tensor x = TestInput();
  std::vector<Tensor> outputs = {x};
  EXPECT_THAT(
      context->Run({x}, absl::MakeSpan(outputs)),
      StatusIs(Code::kInvalidArgument, "output 'y' shares memory with input 'x': give it its own"));
  EXPECT_EQ(x.values<float>()[0], 10.0f);
  outputs[0] = Tensor();
  EXPECT_OK(context->Run({x}, absl::MakeSpan(outputs)));
  EXPECT_OK(context->Run({x}, absl::MakeSpan(outputs)));
}

TEST(Program, RefusesWrongOptions) {
  ASSERT_OK_AND_ASSIGN(const auto program, LoadProgram(TestProgram(TestKernel::kAdd)));
  ProgramContextOptions options;
  options.threads = 0;
  EXPECT_THAT(program->NewContext(options), StatusIs(Code::kInvalidArgument));
  options.threads = 1025;
  EXPECT_THAT(program->NewContext(options), StatusIs(Code::kInvalidArgument));
}

absl::Status LoadError(const v1::Manifest& manifest) {
  const auto artifact = Artifact::Create(manifest, GetTestProgramBlob);
  if (!artifact.ok()) return artifact.status();
  return LoadProgram(*artifact).status();
}

TEST(LoadProgram, RefusesCodeThatDoesNotKeepTheContract) {
  EXPECT_THAT(LoadProgram(TestProgram(TestKernel::kAdd, TestAbi::kOtherAbi)),
              StatusIs(Code::kInvalidArgument, HasSubstr("kernel ABI 2, but its manifest says 1")));
  v1::Manifest newer = TestProgramManifest(TestKernel::kAdd, TestAbi::kVersion2);
  newer.set_min_reader_abi(2);
  EXPECT_THAT(LoadError(newer), StatusIs(Code::kUnimplemented,
                                         HasSubstr("kernel ABI 2, but this runtime speaks 1;")));
  EXPECT_THAT(LoadProgram(TestProgram(TestKernel::kAdd, TestAbi::kNoQuery)),
              StatusIs(Code::kInvalidArgument, HasSubstr("slipway_program_query")));
  v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
  manifest.mutable_code(0)->set_kernel_count(2);
  EXPECT_THAT(LoadError(manifest),
              StatusIs(Code::kInvalidArgument, HasSubstr("the manifest says 2")));
  manifest = TestProgramManifest(TestKernel::kAdd);
  *manifest.mutable_code(0)->mutable_blob() = manifest.constants(0).blob();
  EXPECT_THAT(LoadError(manifest), StatusIs(Code::kInvalidArgument, HasSubstr("cannot be loaded")));
  manifest = TestProgramManifest(TestKernel::kAdd);
  manifest.mutable_functions(0)->mutable_steps(0)->mutable_kernel()->add_inputs(0);
  EXPECT_THAT(LoadError(manifest),
              StatusIs(Code::kInvalidArgument,
                       "step 'Kernel': gives 4 arguments to a kernel that takes 3"));
}

TEST(LoadProgram, RefusesWhatThisMachineCannotRun) {
  ASSERT_OK_AND_ASSIGN(const Target host, ParseTarget("arm-64-linux"));
  Drivers drivers;
  EXPECT_THAT(OpenDevices(TestProgram(TestKernel::kAdd).manifest(), drivers),
              StatusIs(Code::kUnimplemented, HasSubstr("no driver for device 0 'x86-64-linux'")));
  drivers.push_back(MakeCpuDriver(host));
  EXPECT_THAT(OpenDevices(TestProgram(TestKernel::kAdd).manifest(), drivers),
              StatusIs(Code::kFailedPrecondition));
}

}  // namespace
}  // namespace slipway
