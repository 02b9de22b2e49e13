#include "client/cli/exit_code.h"

#include <signal.h>
#include <unistd.h>

#include "client/cli/signal_interrupts.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

TEST(ExitCodeTest, ABadVerdictIsToldFromNone) {
  EXPECT_EQ(ExitCodeOf(WithoutVerdict(absl::InternalError("it crashed"))), ExitCode::kNoVerdict);
  EXPECT_EQ(ExitCodeOf(WithoutVerdict(
                WithExitCode(absl::DeadlineExceededError(""), ExitCode::kWorkFailed))),
            ExitCode::kNoVerdict);
  EXPECT_EQ(ExitCodeOf(WithoutVerdict(WrongCall("no such flag"))), ExitCode::kWrongCall);
  EXPECT_EQ(ExitCodeOf(WithoutVerdict(absl::UnavailableError(""))), ExitCode::kUnreachable);
  EXPECT_EQ(WithoutVerdict(absl::InternalError("it crashed")).message(), "it crashed");
}

// And not as a verdict.
TEST(SignalInterruptsDeathTest, ASignalThatNobodyHandlesEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const std::unique_ptr<Interrupts> interrupts = MakeSignalInterrupts();
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "");
}

}  // namespace
}  // namespace slipway::cli
