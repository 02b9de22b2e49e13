// Calls that somebody watches: where they stand, what their steps write, and how they are ended.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

Tensor F32(float number) { return Tensor::Scalar<float>(number); }
Tensor I64(int64_t number) { return Tensor::Scalar<int64_t>(number); }

// "step name[turns]: value's name = floats".
std::string ToText(const StepReport& report, const Program& program) {
  std::string text =
      absl::StrCat(program.steps()[report.step].name, "[", absl::StrJoin(report.turns, " "), "]");
  for (const StepValue& value : report.values) {
    absl::StrAppend(&text, " ", value.name.empty() ? "?" : value.name, "=");
    if (value.dtype != DataType::kFloat32) continue;
    std::vector<float> floats(value.bytes.size() / sizeof(float));
    std::memcpy(floats.data(), value.bytes.data(), value.bytes.size());
    absl::StrAppend(&text, absl::StrJoin(floats, ","));
  }
  return text;
}

class WatchedTest : public ::testing::Test {
 protected:
  void Load(const HandWrittenProgram& program) {
    HandWrittenProgram copy = program;
    ASSERT_OK_AND_ASSIGN(const Artifact artifact, copy.builder.Build());
    Drivers drivers = AllDrivers();
    drivers.push_back(MakeNullDriver());
    ASSERT_OK_AND_ASSIGN(auto devices, OpenDevices(artifact.manifest(), drivers));
    ASSERT_OK_AND_ASSIGN(program_, Program::Load(artifact, std::move(devices)));
    outputs_ = program.outputs.size();
    ProgramContextOptions options;
    options.position = &position_;
    ASSERT_OK_AND_ASSIGN(context_, program_->NewContext(options));
  }
  absl::Status Run(const std::vector<Tensor>& inputs, CallOptions options = {}) {
    options.observer = &observer_;
    std::vector<Tensor> results(outputs_);
    return context_->Run(inputs, absl::MakeSpan(results), options);
  }

  std::unique_ptr<Program> program_;
  std::atomic<uint32_t> position_ = 5;
  std::unique_ptr<ProgramContext> context_;
  size_t outputs_ = 0;
  std::vector<std::string> told_;
  std::vector<uint32_t> positions_;
  StepObserver observer_ = [this](const StepReport& report) {
    told_.push_back(ToText(report, *program_));
    positions_.push_back(position_.load());
    return absl::OkStatus();
  };
};

TEST_F(WatchedTest, TellsWhatEachStepWroteUntilTheCallEnds) {
  Load(While());
  EXPECT_EQ(position_.load(), kNoStep);
  // sum, limit, step.
  ASSERT_OK(Run({F32(0), F32(2), F32(1)}));
  EXPECT_THAT(told_, ElementsAre("kernel 5[] ?=", "body/kernel 0[0] ?=1",
                                 "body/kernel 5[0] ?=", "body/kernel 0[1] ?=2",
                                 "body/kernel 5[1] ?=", "while[] total=2 sums=1,2"));
  // Steps of bodies come first in the program.
  EXPECT_THAT(positions_, ElementsAre(2, 0, 1, 0, 1, 1));
  EXPECT_EQ(position_.load(), kNoStep);
}

TEST_F(WatchedTest, TurnsAreThoseOfAllLoopsAround) {
  Load(NestedControl());
  ASSERT_OK(Run({I64(2)}));
  std::vector<std::string> adds;
  for (const std::string& step : told_) {
    if (step.starts_with("sum/")) adds.push_back(step.substr(step.find('[')));
  }
  EXPECT_THAT(adds, ElementsAre("[0 0] ?=1", "[0 1] ?=2", "[1 0] ?=3", "[1 1] ?=4"));
}

TEST_F(WatchedTest, CopiesWhatTheHostCannotTouch) {
  Load(ThereAndBack());
  ASSERT_OK(Run({Tensor::Of<float>({5}, {1, 2, 3, 4, 5})}));
  ASSERT_EQ(told_.size(), 5u);
  EXPECT_THAT(told_[1], HasSubstr("?=2,4,6,8,10"));
  EXPECT_THAT(told_[2], HasSubstr("?=12,24,36,48,60"));
  EXPECT_THAT(told_[4], HasSubstr("y=13,25,37,49,61"));
}

TEST_F(WatchedTest, AnObserverMayEndTheCall) {
  Load(While());
  int told = 0;
  const StepObserver tell = std::exchange(observer_, [&told](const StepReport&) {
    return ++told < 3 ? absl::OkStatus() : absl::DataLossError("nobody listens");
  });
  EXPECT_THAT(
      Run({F32(0), F32(2), F32(1)}),
      StatusIs(Code::kDataLoss,
               "step 1 'while': turn 0 of function 'body': step 1 'kernel 5': nobody listens"));
  EXPECT_EQ(position_.load(), kNoStep);
  observer_ = tell;
  ASSERT_OK(Run({F32(0), F32(1), F32(1)}));
  EXPECT_EQ(told_.back(), "while[] total=1 sums=1");
}

TEST_F(WatchedTest, ACancelledCallSaysWhatItDidNotBegin) {
  Load(While());
  std::atomic<bool> cancelled = false;
  int told = 0;
  observer_ = [&](const StepReport&) {
    cancelled = ++told == 4;
    return absl::OkStatus();
  };
  EXPECT_THAT(Run({F32(0), F32(100), F32(1)}, {.cancelled = &cancelled}),
              StatusIs(Code::kCancelled,
                       "step 1 'while': turn 1 of function 'body': step 1 'kernel 5': cancelled "
                       "before it began"));
  EXPECT_THAT(Run({F32(0), F32(100), F32(1)}, {.cancelled = &cancelled}),
              StatusIs(Code::kCancelled, "step 0 'kernel 5': cancelled before it began"));
  EXPECT_EQ(told, 4);
  cancelled = false;
  EXPECT_OK(Run({F32(0), F32(100), F32(1)}, {.cancelled = &cancelled}));
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
