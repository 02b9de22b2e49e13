// Calls that somebody watches: where they stand, and how they are ended.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "core/artifact/artifact.h"
#include "core/runtime/call_options.h"
#include "core/runtime/drivers/null/null_driver.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

Tensor F32(float number) { return Tensor::Scalar<float>(number); }

class WatchedTest : public ::testing::Test {
 protected:
  void Load(const HandWrittenProgram& program) {
    HandWrittenProgram copy = program;
    ASSERT_OK_AND_ASSIGN(const Artifact artifact, copy.builder.Build());
    Drivers drivers = AllDrivers();
    drivers.insert(drivers.begin(), MakeNullDriver());
    ASSERT_OK_AND_ASSIGN(auto devices, OpenDevices(artifact.manifest(), drivers));
    ASSERT_OK_AND_ASSIGN(program_, Program::Load(artifact, std::move(devices)));
    outputs_ = program.outputs.size();
    ProgramContextOptions options;
    options.position = &position_;
    options.loop_turns = int64_t{1} << 40;
    ASSERT_OK_AND_ASSIGN(context_, program_->NewContext(options));
  }
  absl::Status Run(const std::vector<Tensor>& inputs, const CallOptions& options) {
    std::vector<Tensor> results(outputs_);
    return context_->Run(inputs, absl::MakeSpan(results), options);
  }

  std::unique_ptr<Program> program_;
  std::atomic<uint32_t> position_ = 5;
  std::unique_ptr<ProgramContext> context_;
  size_t outputs_ = 0;
};

TEST_F(WatchedTest, ACallThatIsCancelledDoesNotBegin) {
  Load(While());
  EXPECT_EQ(position_.load(), kNoStep);
  std::atomic<bool> cancelled = true;
  EXPECT_THAT(Run({F32(0), F32(2), F32(1)}, {.cancelled = &cancelled}),
              StatusIs(Code::kCancelled, "step 0 'kernel 5': cancelled before it began"));
  cancelled = false;
  EXPECT_OK(Run({F32(0), F32(2), F32(1)}, {.cancelled = &cancelled}));
}

TEST_F(WatchedTest, ACallThatRunsSaysWhereAndEndsBeforeItsNextStep) {
  Load(While());
  std::atomic<bool> cancelled = false;
  uint32_t seen = kNoStep;
  std::thread cancels([&] {
    while ((seen = position_.load()) == kNoStep) std::this_thread::yield();
    cancelled = true;
  });
  // It counts in steps of nothing, and would not end by itself.
  EXPECT_THAT(Run({F32(0), F32(1), F32(0)}, {.cancelled = &cancelled}),
              StatusIs(Code::kCancelled, HasSubstr("cancelled before it began")));
  cancels.join();
  // Steps of bodies come first in the program.
  EXPECT_LT(seen, program_->steps().size());
  EXPECT_EQ(position_.load(), kNoStep);
}

TEST(CrashedProgram, LeavesWhereItStood) {
  const Artifact artifact = TestProgram(TestKernel::kCrash);
  void* const shared = mmap(nullptr, sizeof(std::atomic<uint32_t>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  auto* const position = new (shared) std::atomic<uint32_t>(kNoStep);
  const pid_t child = fork();
  if (child == 0) {
    const auto program = LoadProgram(artifact);
    ProgramContextOptions options;
    options.position = position;
    const auto context = (*program)->NewContext(options);
    std::vector<Tensor> outputs(1);
    (*context)
        ->Run({Tensor::Zeros(DataType::kFloat32, {2, 8})}, absl::MakeSpan(outputs))
        .IgnoreError();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  // Sanitizers make an exit code of the signal.
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(DescribeStep(StepsOf(artifact.manifest()), position->load()),
            "step 0 'Kernel', kernel 2 of code 0");
  munmap(shared, sizeof(std::atomic<uint32_t>));
}

}  // namespace
}  // namespace slipway
