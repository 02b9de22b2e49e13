#include "core/confinement/confinement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/confinement/guard.h"
#include "core/confinement/profiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::slipway::testing::TempTree;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kUnconfined = 100;

// The exit code of a child that confines itself, then does `body`; kUnconfined if it could not.
int InChild(const Confinement& confinement, const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    const absl::StatusOr<MissingParts> missing = ApplyConfinement(confinement);
    _exit(missing.ok() && missing->empty() ? body() : kUnconfined);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool IsMissing(const Confinement& confinement, ConfinementPart part) {
  const absl::StatusOr<MissingParts> missing = ProbeConfinement(confinement);
  return missing.ok() && std::any_of(missing->begin(), missing->end(),
                                     [&](const MissingPart& each) { return each.part == part; });
}

#define SKIP_WITHOUT(confinement, part)                          \
  if (IsMissing(confinement, part)) {                            \
    GTEST_SKIP() << "this kernel does not give: " << Name(part); \
  }                                                              \
  static_assert(true)

int Open(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  return fd >= 0 ? 0 : errno;
}

TEST(Confinement, LeavesThePathsThatAreNamed) {
  TempTree tree;
  const std::string secret = tree.Write("secret/file", "s");
  const std::string blob = tree.Write("blobs/file", "b");
  const std::string mine = tree.Write("mine/file", "m");
  Confinement confinement;
  confinement.parts = {ConfinementPart::kFiles};
  confinement.paths = {{tree.Path("blobs"), PathAccess::kReadFiles},
                       {tree.Path("mine"), PathAccess::kWrite},
                       {tree.Path("not_there"), PathAccess::kWrite}};
  SKIP_WITHOUT(confinement, ConfinementPart::kFiles);
  EXPECT_EQ(InChild(confinement, [&] { return Open(secret, O_RDONLY); }), EACCES);
  EXPECT_EQ(InChild(confinement, [&] { return Open(blob, O_RDONLY); }), 0);
  EXPECT_EQ(InChild(confinement, [&] { return Open(blob, O_RDWR); }), EACCES);
  EXPECT_EQ(InChild(confinement, [&] { return Open(tree.Path("blobs"), O_DIRECTORY); }), EACCES);
  EXPECT_EQ(InChild(confinement, [&] { return Open(mine, O_RDWR); }), 0);
  EXPECT_EQ(InChild(confinement, [&] { return Open(tree.Path("mine"), O_DIRECTORY); }), 0);
  EXPECT_EQ(InChild(confinement,
                    [&] {
                      mkdir(tree.Path("mine/a").c_str(), 0700);
                      return rename(mine.c_str(), tree.Path("mine/a/b").c_str()) == 0 ? 0 : errno;
                    }),
            0);
  EXPECT_TRUE(tree.Exists("mine/a/b"));
  EXPECT_EQ(InChild(confinement,
                    [&] { return symlink("x", tree.Path("blobs/l").c_str()) == 0 ? 0 : errno; }),
            EACCES);
}

TEST(Confinement, AllowsTheCallsThatAreNamedWithTheArgumentsThatAre) {
  Confinement confinement;
  confinement.parts = {ConfinementPart::kSystemCalls};
  confinement.calls = {{SYS_exit_group},
                       {SYS_dup},
                       // One of two values; then all of some bits and none of others.
                       {SYS_lseek, {.argument = 2, .mask = ~0u, .value = SEEK_SET}},
                       {SYS_lseek, {.argument = 2, .mask = ~0u, .value = SEEK_END}},
                       {SYS_alarm,
                        {.argument = 0, .mask = 0b1100, .value = 0b1100},
                        {.argument = 0, .mask = 0b0011, .value = 0}},
                       {SYS_getppid, {}, {}, SystemCallRule::Answer::kUnknown}};
  SKIP_WITHOUT(confinement, ConfinementPart::kSystemCalls);
  const auto call = [&](long number, long a, long c) {
    return InChild(confinement, [=] {
      errno = 0;
      syscall(number, a, 0L, c);
      return errno;
    });
  };
  EXPECT_EQ(call(SYS_dup, 1, 0), 0);
  EXPECT_EQ(call(SYS_dup, 1000, 0), EBADF);
  EXPECT_EQ(call(SYS_lseek, -1, SEEK_SET), EBADF);
  EXPECT_EQ(call(SYS_lseek, -1, SEEK_CUR), EPERM);
  EXPECT_EQ(call(SYS_lseek, -1, SEEK_END), EBADF);
  EXPECT_EQ(call(SYS_alarm, 0b1100, 0), 0);
  EXPECT_EQ(call(SYS_alarm, 0b11100, 0), 0);
  EXPECT_EQ(call(SYS_alarm, 0b0100, 0), EPERM);
  EXPECT_EQ(call(SYS_alarm, 0b1101, 0), EPERM);
  EXPECT_EQ(call(SYS_getppid, 0, 0), ENOSYS);
  EXPECT_EQ(call(SYS_getpid, 0, 0), EPERM);
  // Of a kernel to come, and of the calls of 32-bit pointers.
  EXPECT_EQ(call(1000, 0, 0), ENOSYS);
  EXPECT_EQ(call(0x40000000 | SYS_getpid, 0, 0), ENOSYS);
}

TEST(Confinement, HoldsSignalsBackButForItsOwnChildren) {
  Confinement confinement;
  confinement.parts = {ConfinementPart::kSignals};
  SKIP_WITHOUT(confinement, ConfinementPart::kSignals);
  const pid_t self = getpid();
  EXPECT_EQ(InChild(confinement, [&] { return kill(self, 0) == 0 ? 0 : errno; }), EPERM);
  EXPECT_EQ(InChild(confinement,
                    [] {
                      const pid_t child = fork();
                      if (child == 0) pause();
                      const int result = kill(child, SIGKILL) == 0 ? 0 : errno;
                      waitpid(child, nullptr, 0);
                      return result;
                    }),
            0);
}

TEST(Confinement, LimitsAndNoPrivileges) {
  Confinement confinement;
  confinement.parts = {ConfinementPart::kPrivileges};
  confinement.max_open_files = 20;
  confinement.max_file_bytes = 1000;
  EXPECT_EQ(InChild(confinement, [] { return dup2(1, 20) < 0 ? errno : 0; }), EBADF);
  EXPECT_EQ(InChild(confinement, [] { return dup2(1, 19) < 0 ? errno : 0; }), 0);
  EXPECT_EQ(InChild(confinement,
                    [] {
                      signal(SIGXFSZ, SIG_IGN);
                      const int file = memfd_create("", 0);
                      return ftruncate(file, 1001) == 0 ? 0 : errno;
                    }),
            EFBIG);
  EXPECT_EQ(InChild(confinement, [] { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) - 1; }), 0);
  EXPECT_EQ(InChild(confinement, [] { return chroot("/") == 0 ? 0 : errno; }), EPERM);
}

// The child of a child ends with it, though nobody kills it.
TEST(Confinement, EndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t middle = fork();
  if (middle == 0) {
    const pid_t child = fork();
    if (child == 0) {
      Confinement confinement = RunnerConfinement("/nonexistent");
      confinement.parts = {ConfinementPart::kPrivileges};
      const bool confined = ApplyConfinement(confinement).ok();
      if (write(ends[1], confined ? "y" : "n", 1) != 1) _exit(1);
      while (true) pause();
    }
    pause();
  }
  close(ends[1]);
  char confined = 0;
  ASSERT_EQ(read(ends[0], &confined, 1), 1);
  EXPECT_EQ(confined, 'y');
  kill(middle, SIGKILL);
  waitpid(middle, nullptr, 0);
  // The end of the file: nobody is left who holds the other end.
  EXPECT_EQ(read(ends[0], &confined, 1), 0);
  close(ends[0]);
}

class OwnProcessesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    confinement_.parts = {ConfinementPart::kNamespaces};
    confinement_.owns_processes = true;
    if (IsMissing(confinement_, ConfinementPart::kNamespaces)) {
      GTEST_SKIP() << "this kernel does not give: " << Name(ConfinementPart::kNamespaces);
    }
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
  }
  // Whether all but this process have closed their ends.
  bool IsAlone(int timeout_ms) {
    write_end_.reset();
    pollfd end = {.fd = read_end_.get(), .events = 0, .revents = 0};
    return poll(&end, 1, timeout_ms) == 1;
  }

  Confinement confinement_;
  UniqueFd read_end_;
  UniqueFd write_end_;
};

// What hides from whoever looks for a group or a session of processes.
pid_t LeaveADaemon() {
  const pid_t daemon = fork();
  if (daemon > 0) return daemon;
  for (int signal_number = 1; signal_number < 65; ++signal_number) signal(signal_number, SIG_IGN);
  setsid();
  while (true) pause();
}

TEST_F(OwnProcessesTest, NothingOutlivesTheProcess) {
  EXPECT_EQ(InChild(confinement_, [] { return LeaveADaemon() > 0 ? 0 : 1; }), 0);
  EXPECT_TRUE(IsAlone(20'000));
}

TEST_F(OwnProcessesTest, WithoutThemADaemonStays) {
  confinement_.owns_processes = false;
  EXPECT_EQ(InChild(confinement_,
                    [&] {
                      const pid_t daemon = LeaveADaemon();
                      return write(write_end_.get(), &daemon, sizeof(daemon)) > 0 ? 0 : 1;
                    }),
            0);
  pid_t daemon = 0;
  ASSERT_EQ(read(read_end_.get(), &daemon, sizeof(daemon)), static_cast<ssize_t>(sizeof(daemon)));
  EXPECT_FALSE(IsAlone(200));
  kill(daemon, SIGKILL);
  EXPECT_TRUE(IsAlone(20'000));
}

TEST_F(OwnProcessesTest, TheProcessEndsAsItWould) {
  EXPECT_EQ(InChild(confinement_, [] { return 7; }), 7);
  for (const int number : {SIGABRT, SIGSEGV, SIGKILL}) {
    EXPECT_EQ(InChild(confinement_,
                      [&] {
                        raise(number);
                        return 0;
                      }),
              -number);
  }
}

TEST_F(OwnProcessesTest, WhoKillsTheProcessKillsAll) {
  const pid_t process = fork();
  if (process == 0) {
    const bool confined = ApplyConfinement(confinement_).ok();
    if (write(write_end_.get(), confined ? "y" : "n", 1) != 1) _exit(1);
    LeaveADaemon();
    while (true) pause();
  }
  char confined = 0;
  ASSERT_EQ(read(read_end_.get(), &confined, 1), 1);
  EXPECT_EQ(confined, 'y');
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  EXPECT_TRUE(IsAlone(20'000));
}

TEST(Confinement, TellsWhatIsMissingAndWhatToDo) {
  EXPECT_OK(RequireWhole("the runner", {}));
  const MissingParts missing = {{ConfinementPart::kFiles, "no Landlock: take another kernel"},
                                {ConfinementPart::kSystemCalls, "no seccomp"}};
  EXPECT_THAT(
      RequireWhole("the runner", missing),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("the runner cannot be confined wholly"),
                     HasSubstr("files: no Landlock: take another kernel"),
                     HasSubstr("system calls: no seccomp"), HasSubstr("--require-confinement"))));
  // Who must stay root is not bound by a limit on tasks, and is told so.
  if (geteuid() == 0) EXPECT_TRUE(IsMissing(CompileConfinement({}, {}), ConfinementPart::kTasks));
}

// A container may forbid what its kernel could do.
TEST(Confinement, NamesTheNamespacesWhereTheyAreForbidden) {
  const Confinement confinement = RunnerConfinement("/nonexistent");
  SKIP_WITHOUT(confinement, ConfinementPart::kNamespaces);
  const pid_t pid = fork();
  if (pid == 0) {
    // Those below this one may not be made.
    const std::string ids = absl::StrCat("0 ", geteuid(), " 1");
    if (unshare(CLONE_NEWUSER) != 0) _exit(1);
    for (const auto& [path, text] : {std::pair<const char*, std::string>{"/proc/self/uid_map", ids},
                                     {"/proc/sys/user/max_user_namespaces", "0"}}) {
      const UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
      if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        _exit(2);
      }
    }
    const absl::StatusOr<MissingParts> missing = ProbeConfinement(confinement);
    if (!missing.ok()) _exit(3);
    std::string parts;
    for (const MissingPart& part : *missing) absl::StrAppend(&parts, Name(part.part), ";");
    _exit(parts == "namespaces;tasks;" ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Confinement, AProbeLeavesTheProcessAsItIs) {
  ASSERT_OK(ProbeConfinement(RunnerConfinement("/nonexistent")).status());
  EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
  EXPECT_EQ(Open("/etc/passwd", O_RDONLY), 0);
}

TEST(Guard, LeavesRootLittle) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has something to lose";
  const std::string host = "guarded";
  const bool lacks = IsMissing(CompileConfinement({}, {}), ConfinementPart::kNamespaces);
  const pid_t pid = fork();
  if (pid == 0) {
    if (!GuardProcess().ok()) _exit(1);
    // Another user's file is still its own.
    if (open("/proc/self/environ", O_RDONLY) < 0) _exit(2);
    if (sethostname(host.data(), host.size()) == 0 || errno != EPERM) _exit(3);
    if (chroot("/") == 0 || errno != EPERM) _exit(4);
    if (unshare(CLONE_NEWNS) == 0 || errno != EPERM) _exit(5);
    // Compile children can be confined as before.
    if (IsMissing(CompileConfinement({}, {}), ConfinementPart::kNamespaces) != lacks) _exit(7);
    // Nor has what it starts more than it.
    execl("/bin/sh", "sh", "-c",
          "grep -q '^CapEff:.*00000000[08]0000[0-9a-f]\\{3\\}$' /proc/self/status", nullptr);
    _exit(6);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(Guard, KeepsOthersOut) {
  const pid_t pid = fork();
  if (pid == 0) {
    const bool guarded = GuardProcess().ok() && prctl(PR_GET_DUMPABLE) == 0 &&
                         prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
    _exit(guarded ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace slipway
