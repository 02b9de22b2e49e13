#include "core/base/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/await_limits.h"
#include "core/base/lifeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

SubprocessOptions Shell(absl::string_view script) {
  SubprocessOptions options;
  options.argv = {"sh", "-c", std::string(script)};
  options.stdout_stream = ChildStream::Tail();
  options.stderr_stream = ChildStream::Tail();
  return options;
}

struct Outcome {
  std::string end;
  std::string output;
};

Outcome RunToEnd(const SubprocessOptions& options) {
  absl::StatusOr<std::unique_ptr<Subprocess>> child = Subprocess::Start(options);
  if (!child.ok()) return {child.status().ToString(), ""};
  absl::StatusOr<ExitStatus> end = (*child)->Wait(absl::Seconds(30));
  if (!end.ok()) return {end.status().ToString(), ""};
  return {end->ToString(), (*child)->OutputTail()};
}

bool IsGone(pid_t pid) {
  // Waits for init or a subreaper to reap it; a signal of 0 only asks.
  for (int i = 0; i < 500; ++i) {
    if (kill(pid, 0) != 0) return true;
    absl::StatusOr<std::string> stat = ReadFile(absl::StrCat("/proc/", pid, "/stat"), 4096);
    if (stat.ok() && stat->find(") Z ") != std::string::npos) return true;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return false;
}

TEST(SubprocessTest, SaysHowAChildEnded) {
  EXPECT_EQ(RunToEnd(Shell("exit 0")).end, "exit code 0");
  EXPECT_EQ(RunToEnd(Shell("exit 3")).end, "exit code 3");
  EXPECT_EQ(RunToEnd(Shell("kill -SEGV $$")).end, "killed by signal 11 (SIGSEGV)");
}

TEST(SubprocessTest, KeepsWhatWasWritten) {
  const Outcome outcome = RunToEnd(Shell("echo out; echo err >&2"));
  EXPECT_EQ(outcome.output, "out\nerr\n");
}

TEST(SubprocessTest, KeepsOnlyTheEndOfMuchOutput) {
  const Outcome outcome = RunToEnd(Shell("yes 1234567 | head -c 1000000; echo the end"));
  EXPECT_EQ(outcome.output.size(), Subprocess::kMaxTailBytes);
  EXPECT_THAT(outcome.output, EndsWith("1234567\nthe end\n"));
}

TEST(SubprocessTest, ProgramsThatCannotStart) {
  SubprocessOptions options;
  EXPECT_THAT(Subprocess::Start(options), StatusIs(absl::StatusCode::kInvalidArgument));
  options.argv = {"/no/such/program"};
  EXPECT_THAT(Subprocess::Start(options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot start '/no/such/program'")));
  options.argv = {"/etc/passwd"};
  EXPECT_THAT(Subprocess::Start(options), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST(SubprocessTest, AddsToTheEnvironmentAndClosesStdin) {
  setenv("SUBPROCESS_TEST_OLD", "old", 1);
  setenv("SUBPROCESS_TEST_BOTH", "old", 1);
  SubprocessOptions options = Shell(
      "echo $SUBPROCESS_TEST_OLD $SUBPROCESS_TEST_BOTH $SUBPROCESS_TEST_NEW; cat; "
      "echo ${SLIPWAY_LIFELINE_FD-unset}");
  options.environment = {{"SUBPROCESS_TEST_NEW", "a=b"}, {"SUBPROCESS_TEST_BOTH", "new"}};
  EXPECT_EQ(RunToEnd(options).output, "old new a=b\nunset\n");
}

TEST(SubprocessTest, PassesExactlyTheNamedDescriptors) {
  // Three pipes whose numbers are then mapped crosswise, the worst case for dup2.
  int pipes[3][2];
  for (auto& fds : pipes) ASSERT_EQ(pipe(fds), 0);  // Without O_CLOEXEC: leaks if nothing is done.
  SubprocessOptions options = Shell("echo a >&4; echo b >&3; echo c >&7; ls /proc/self/fd");
  options.fds = {{4, pipes[0][1]}, {3, pipes[1][1]}, {7, pipes[2][1]}};
  if (pipes[0][1] != 4) {
    dup2(pipes[0][1], 200);
    options.fds[0].second = 200;
  }
  const Outcome outcome = RunToEnd(options);
  // 0 to 2, what was passed, and the one by which ls reads the folder.
  EXPECT_THAT(outcome.output, AnyOf("0\n1\n2\n3\n4\n5\n7\n", "0\n1\n10\n2\n3\n4\n5\n7\n"));
  const char* const expected[] = {"a\n", "b\n", "c\n"};
  for (int i = 0; i < 3; ++i) {
    char buffer[16] = {};
    EXPECT_EQ(read(pipes[i][0], buffer, sizeof(buffer) - 1), 2);
    EXPECT_STREQ(buffer, expected[i]);
    close(pipes[i][0]);
    close(pipes[i][1]);
  }
  options.fds = {{2, 0}};
  EXPECT_THAT(Subprocess::Start(options), StatusIs(absl::StatusCode::kInvalidArgument));
  options.fds = {{3, 250}};
  EXPECT_THAT(Subprocess::Start(options).status().message(), HasSubstr("descriptor 250"));
}

TEST(SubprocessTest, SwapsDescriptors) {
  TemporaryFolder folder = *TemporaryFolder::Create("subprocess_test");
  // Ours 10 and 11 become the child's 11 and 10.
  const std::string path_a = JoinPath(folder.path(), "a");
  const std::string path_b = JoinPath(folder.path(), "b");
  const UniqueFd a(open(path_a.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const UniqueFd b(open(path_b.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  SubprocessOptions options =
      Shell(absl::StrCat("echo first >&", b.get(), "; echo second >&", a.get()));
  options.fds = {{a.get(), b.get()}, {b.get(), a.get()}};
  EXPECT_EQ(RunToEnd(options).end, "exit code 0");
  EXPECT_EQ(*ReadFile(path_a, 100), "first\n");
  EXPECT_EQ(*ReadFile(path_b, 100), "second\n");
}

TEST(SubprocessTest, WritesToADescriptor) {
  TemporaryFolder folder = *TemporaryFolder::Create("subprocess_test");
  const std::string path = JoinPath(folder.path(), "out");
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  SubprocessOptions options = Shell("echo into a file; echo tail >&2");
  options.stdout_stream = ChildStream::Fd(file.get());
  EXPECT_EQ(RunToEnd(options).output, "tail\n");
  EXPECT_EQ(*ReadFile(path, 100), "into a file\n");
}

TEST(SubprocessTest, WaitHasADeadlineAndKillReachesTheWholeGroup) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Subprocess> child,
                       Subprocess::Start(Shell("sleep 1000 & echo $!; wait")));
  EXPECT_THAT(child->Wait(absl::Milliseconds(100)), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_FALSE(child->Poll().has_value());
  std::string output;
  while ((output = child->OutputTail()).empty()) absl::SleepFor(absl::Milliseconds(5));
  pid_t grandchild = 0;
  ASSERT_TRUE(absl::SimpleAtoi(output, &grandchild));
  child->Kill();
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, child->Wait());
  EXPECT_EQ(end.ToString(), "killed by signal 9 (SIGKILL)");
  EXPECT_FALSE(end.ok());
  EXPECT_TRUE(IsGone(grandchild));
  child->Kill();  // After the end: nothing.
}

TEST(SubprocessTest, NothingOfTheGroupOutlivesTheChild) {
  // The grandchild holds the pipe: the end must be seen all the same.
  const Outcome outcome = RunToEnd(Shell("sleep 1000 & echo $!"));
  EXPECT_EQ(outcome.end, "exit code 0");
  pid_t grandchild = 0;
  ASSERT_TRUE(absl::SimpleAtoi(outcome.output, &grandchild));
  EXPECT_TRUE(IsGone(grandchild));
}

TEST(SubprocessTest, DestructorLeavesNoZombie) {
  pid_t pid = 0;
  {
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<Subprocess> child, Subprocess::Start(Shell("sleep 1000")));
    pid = child->pid();
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(SubprocessTest, TerminateCanBeCaught) {
  ASSERT_OK_AND_ASSIGN(
      std::unique_ptr<Subprocess> child,
      Subprocess::Start(Shell("trap 'exit 7' TERM; echo ready; while true; do sleep 0.01; done")));
  while (child->OutputTail().empty()) absl::SleepFor(absl::Milliseconds(5));
  child->Terminate();
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, child->Wait());
  EXPECT_EQ(end.exit_code, 7);
}

TEST(SubprocessTest, SignalsStartAtTheirDefaults) {
  signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(RunToEnd(Shell("kill -PIPE $$; exit 0")).end, "killed by signal 13 (SIGPIPE)");
  signal(SIGPIPE, SIG_DFL);
}

TEST(SubprocessTest, NoSignalIsBlockedHoweverManyAreHere) {
  sigset_t all, before;
  sigfillset(&all);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &all, &before), 0);
  const Outcome outcome = RunToEnd(Shell("grep SigBlk /proc/self/status"));
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  EXPECT_EQ(outcome.output, "SigBlk:\t0000000000000000\n");
}

TEST(SubprocessTest, SetsLimits) {
  SubprocessOptions options =
      Shell("read wait; ulimit -n; ulimit -v; ulimit -t; ulimit -f; ulimit -c");
  // The child reads first, so that it surely asks after Start has returned.
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  options.stdin_stream = ChildStream::Fd(fds[0]);
  options.limits = {.address_space_bytes = int64_t{1} << 30,
                    .cpu_time = absl::Milliseconds(1500),
                    .open_files = 50,
                    .file_size_bytes = 1 << 20};
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Subprocess> child, Subprocess::Start(options));
  ASSERT_EQ(write(fds[1], "\n", 1), 1);
  ASSERT_OK(child->Wait(absl::Seconds(30)));
  EXPECT_EQ(child->OutputTail(), "50\n1048576\n2\n2048\n0\n");
  close(fds[0]);
  close(fds[1]);
}

TEST(SubprocessTest, ProcessorTimeIsLimited) {
  SubprocessOptions options = Shell("while true; do :; done");
  options.limits.cpu_time = absl::Seconds(1);
  EXPECT_EQ(RunToEnd(options).end, "killed by signal 24 (SIGXCPU)");
}

TEST(SubprocessTest, ManyAtOnceFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        const std::string text = absl::StrCat(t, " ", i, "\n");
        EXPECT_EQ(RunToEnd(Shell(absl::StrCat("echo ", t, " ", i))).output, text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LifelineTest, AChildEndsWithItsParentHoweverThatEnds) {
  // This program as the middle process, which starts a grandchild that follows it.
  SubprocessOptions options;
  options.argv = {kOwnExecutable, "middle"};
  options.stdout_stream = ChildStream::Tail();
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Subprocess> middle, Subprocess::Start(options));
  std::string output;
  while ((output = middle->OutputTail()).find('\n') == std::string::npos) {
    ASSERT_FALSE(middle->Poll().has_value());
    absl::SleepFor(absl::Milliseconds(5));
  }
  pid_t leaf = 0;
  ASSERT_TRUE(absl::SimpleAtoi(output, &leaf));
  EXPECT_EQ(kill(leaf, 0), 0);
  kill(middle->pid(), SIGKILL);  // Not its group: the leaf has one of its own anyway.
  EXPECT_TRUE(IsGone(leaf));
}

TEST(LifelineTest, DoesNothingWithoutOne) {
  EXPECT_OK(FollowParent());
  setenv(kLifelineVariable, "1000", 1);
  EXPECT_THAT(FollowParent(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'1000'")));
  unsetenv(kLifelineVariable);
}

int Middle() {
  SubprocessOptions options;
  options.argv = {kOwnExecutable, "leaf"};
  options.follow_parent = true;
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return 1;
  options.stdout_stream = ChildStream::Fd(fds[1]);
  absl::StatusOr<std::unique_ptr<Subprocess>> leaf = Subprocess::Start(options);
  if (!leaf.ok()) return 1;
  char ready;
  if (read(fds[0], &ready, 1) != 1) return 1;  // The leaf follows now.
  printf("%d\n", (*leaf)->pid());
  fflush(stdout);
  while (true) pause();
}

int Leaf() {
  if (!FollowParent().ok() || getenv(kLifelineVariable) == nullptr) return 1;
  if (write(STDOUT_FILENO, "r", 1) != 1) return 1;
  while (true) pause();
}

TEST(Subprocess, MayGetNoEnvironmentButItsOwn) {
  SubprocessOptions options = Shell("");
  options.argv = {"/usr/bin/env"};
  options.environment = {{"WORD", "own"}};
  options.inherit_environment = false;
  EXPECT_EQ(RunToEnd(options).output, "WORD=own\n");
}

// Tells how many descriptors it may open, once it has its limits.
int Limited() {
  AwaitLimits();
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  printf("%d\n", static_cast<int>(limit.rlim_cur));
  return 0;
}

TEST(Subprocess, AChildMayWaitForItsLimits) {
  SubprocessOptions options = Shell("");
  options.argv = {kOwnExecutable, "limited"};
  options.limits.open_files = 77;
  options.waits_for_limits = true;
  EXPECT_EQ(RunToEnd(options).output, "77\n");
}

// Ends with its parent by a signal that the system sends when the thread that started it ends.
int Dependent() {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || write(STDOUT_FILENO, "r", 1) != 1) return 1;
  while (true) pause();
}

TEST(Subprocess, OutlivesTheThreadThatAskedForIt) {
  SubprocessOptions options;
  options.argv = {kOwnExecutable, "dependent"};
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd read_end(fds[0]);
  const UniqueFd write_end(fds[1]);
  options.stdout_stream = ChildStream::Fd(write_end.get());
  absl::StatusOr<std::unique_ptr<Subprocess>> child = absl::UnknownError("");
  char ready = 0;
  std::thread([&] {
    child = Subprocess::Start(options);
    if (child.ok() && read(read_end.get(), &ready, 1) != 1) ready = 0;
  }).join();
  ASSERT_OK(child);
  ASSERT_EQ(ready, 'r');
  EXPECT_THAT((*child)->Wait(absl::Milliseconds(100)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(Subprocess, WhoFollowsTheOutputIsToldAllOfItInOrder) {
  int told[2];
  ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
  const UniqueFd has_written(told[0]);
  UniqueFd says_so(told[1]);
  SubprocessOptions options = Shell("echo one; echo . >&3; read go; echo two");
  int go[2];
  ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
  const UniqueFd waits(go[0]);
  UniqueFd goes(go[1]);
  options.fds = {{3, says_so.get()}};
  options.stdin_stream = ChildStream::Fd(waits.get());
  absl::Mutex mutex;
  std::string all;
  const auto told_so_far = [&] {
    absl::MutexLock lock(&mutex);
    return all;
  };
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Subprocess> child, Subprocess::Start(options));
  char dot = 0;
  ASSERT_EQ(read(has_written.get(), &dot, 1), 1);
  child->ReadOutputNow();
  EXPECT_EQ(child->OutputTail(), "one\n");
  child->FollowOutput([&](absl::string_view text) {
    absl::MutexLock lock(&mutex);
    absl::StrAppend(&all, text);
  });
  EXPECT_EQ(told_so_far(), "one\n");
  ASSERT_EQ(write(goes.get(), "\n", 1), 1);
  EXPECT_OK(child->Wait());
  EXPECT_EQ(told_so_far(), "one\ntwo\n");
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  if (argc == 2 && absl::string_view(argv[1]) == "middle") return slipway::Middle();
  if (argc == 2 && absl::string_view(argv[1]) == "leaf") return slipway::Leaf();
  if (argc == 2 && absl::string_view(argv[1]) == "dependent") return slipway::Dependent();
  if (argc == 2 && absl::string_view(argv[1]) == "limited") return slipway::Limited();
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
