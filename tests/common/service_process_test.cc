#include "tests/common/service_process.h"

#include <signal.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ServiceProcess Shell(const TempTree& tree, const std::string& script) {
  return ServiceProcess({.name = "a shell",
                         .argv = {"/bin/sh", "-c", script},
                         .environment = {{"TEST_SHELL", tree.path()}},
                         .log_file = tree.Path("log")});
}

TEST(ServiceProcess, SaysWhenItIsReadyAndIsEnded) {
  TempTree tree;
  ServiceProcess shell = Shell(tree, "echo began; echo here >&3; exec sleep 1000");
  ASSERT_OK(shell.Start());
  EXPECT_EQ(shell.ready_line(), "here");
  EXPECT_EQ(shell.Log(), "began\n");
  const std::vector<RunningProcess> found = ListProcesses(absl::StrCat("TEST_SHELL=", tree.path()));
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].pid, shell.pid());
  ASSERT_OK_AND_ASSIGN(const ExitStatus status, shell.Stop());
  EXPECT_EQ(status.ToString(), "killed by signal 15 (SIGTERM)");
  EXPECT_THAT(AwaitNoProcess(absl::StrCat("TEST_SHELL=", tree.path()), absl::Seconds(5)),
              IsEmpty());
}

TEST(ServiceProcess, OneThatIsSuspendedDoesNothing) {
  TempTree tree;
  ServiceProcess shell = Shell(tree, "echo here >&3; while :; do echo more; done");
  ASSERT_OK(shell.Start());
  ASSERT_OK(shell.Suspend());
  const std::string log = shell.Log();
  EXPECT_EQ(shell.Log(), log);
  shell.Resume();
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (shell.Log() == log && absl::Now() < end) {
  }
  EXPECT_NE(shell.Log(), log);
}

TEST(ServiceProcess, OneThatEndsBeforeIsAnErrorWithItsLog) {
  TempTree tree;
  ServiceProcess shell = Shell(tree, "echo no luck >&2; exit 5");
  EXPECT_THAT(shell.Start(),
              StatusIs(absl::StatusCode::kAborted,
                       ::testing::AllOf(HasSubstr("exit code 5"), HasSubstr("no luck"))));
}

TEST(ProcessList, SeesWhoIsLeft) {
  TempTree tree;
  ServiceProcess shell = Shell(tree, "setsid sh -c 'echo here >&3; exec sleep 1000' & wait");
  ASSERT_OK(shell.Start());
  shell.Kill();
  const std::string mark = absl::StrCat("TEST_SHELL=", tree.path());
  std::vector<RunningProcess> left;
  // While it becomes the other program it has no environment to be found by.
  const absl::Time end = absl::Now() + absl::Seconds(5);
  while (left.empty() && absl::Now() < end) left = AwaitNoProcess(mark, absl::Milliseconds(50));
  ASSERT_EQ(left.size(), 1);
  EXPECT_THAT(left[0].ToString(), HasSubstr("1000"));
  kill(left[0].pid, SIGKILL);
  EXPECT_THAT(AwaitNoProcess(mark, absl::Seconds(5)), IsEmpty());
}

TEST(ProcessList, TellsWhatAProcessTakes) {
  const pid_t own = getpid();
  const int64_t threads = ThreadCount(own);
  EXPECT_GE(threads, 1);
  absl::Notification done;
  std::thread other([&] { done.WaitForNotification(); });
  EXPECT_EQ(ThreadCount(own), threads + 1);
  done.Notify();
  other.join();
  ForgetPeak(own);
  const int64_t before = ResidentBytes(own);
  EXPECT_GT(before, 0);
  std::vector<char> block(64 << 20, 'x');
  EXPECT_EQ(static_cast<volatile char&>(block.back()), 'x');
  EXPECT_GE(PeakResidentBytes(own), before + (60 << 20));
  EXPECT_EQ(ResidentBytes(-1), 0);
}

TEST(RunCommand, KeepsWhatItPrints) {
  const CommandResult result =
      RunCommand({.argv = {"/bin/sh", "-c", "echo out; echo $WORD >&2; exit 3"},
                  .environment = {{"WORD", "err"}}});
  EXPECT_EQ(result.status.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST(RunCommand, EndsWhatTakesTooLong) {
  const CommandResult result =
      RunCommand({.argv = {"sleep", "1000"}, .timeout = absl::Milliseconds(20)});
  EXPECT_EQ(result.status.signal, SIGKILL);
}

}  // namespace
}  // namespace slipway::testing
