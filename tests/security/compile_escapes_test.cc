// What a compiler that a hostile model has taken over can do in a process of a user, and cannot in one that is confined as a
// compile child is. As in escapes_test.cc, each escape is first seen to succeed without the confinement.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/confinement/confinement.h"
#include "core/confinement/guard.h"
#include "core/confinement/profiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/temp_tree.h"
#include "tests/security/attack.h"

namespace slipway::testing {
namespace {

// The child's own folder, and one beside it that anybody may write to.
struct Folders {
  std::string own;
  std::string beside;
};

bool Opens(const std::string& path, int flags) {
  return open(path.c_str(), flags | O_CLOEXEC, 0700) >= 0;
}

bool ReadsAFile(const Folders&, pid_t) { return Opens("/etc/passwd", O_RDONLY); }
bool ReadsBesideItsFolder(const Folders& folders, pid_t) {
  return Opens(folders.beside + "/secret", O_RDONLY);
}
bool WritesBesideItsFolder(const Folders& folders, pid_t) {
  return Opens(folders.beside + "/new", O_WRONLY | O_CREAT);
}
bool RemovesBesideItsFolder(const Folders& folders, pid_t) {
  return unlink((folders.beside + "/victim").c_str()) == 0;
}
bool LinksWhatIsBeside(const Folders& folders, pid_t) {
  return link((folders.beside + "/secret").c_str(), (folders.own + "/secret").c_str()) == 0;
}
bool ReadsWhatTheWorkerWasTold(const Folders&, pid_t worker) {
  return Opens(absl::StrCat("/proc/", worker, "/environ"), O_RDONLY);
}
bool RunsWhatItWrote(const Folders& folders, pid_t) {
  const std::string path = folders.own + "/program";
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0700));
  constexpr char kText[] = "#!/bin/true\n";
  if (write(file.get(), kText, sizeof(kText) - 1) < 0) return false;
  file.reset();
  const pid_t pid = fork();
  if (pid == 0) {
    execl(path.c_str(), path.c_str(), nullptr);
    _exit(1);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  return status == 0;
}
bool MakesASocket(const Folders&, pid_t) { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }
bool MakesALocalSocket(const Folders&, pid_t) { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }
bool TracesTheWorker(const Folders&, pid_t worker) {
  return ptrace(PTRACE_SEIZE, worker, nullptr, nullptr) == 0;
}
bool SignalsTheWorker(const Folders&, pid_t worker) { return kill(worker, 0) == 0; }
bool ReadsTheWorkersMemory(const Folders&, pid_t worker) {
  static const char kHere[] = "here";
  char byte = 0;
  const iovec to = {&byte, 1};
  const iovec from = {const_cast<char*>(kHere), 1};
  return process_vm_readv(worker, &to, 1, &from, 1, 0) == 1;
}
bool TakesHoldOfTheWorker(const Folders&, pid_t worker) {
  return syscall(SYS_pidfd_open, worker, 0) >= 0;
}
bool MakesANamespace(const Folders&, pid_t) { return unshare(CLONE_NEWUSER) == 0; }
bool CallsThroughARing(const Folders&, pid_t) {
  io_uring_params parameters = {};
  return syscall(SYS_io_uring_setup, 1, &parameters) >= 0;
}
bool LeavesSharedMemory(const Folders&, pid_t) {
  const int id = shmget(IPC_PRIVATE, 4096, 0600);
  return id >= 0 && shmctl(id, IPC_RMID, nullptr) == 0;
}
bool LeavesItsSession(const Folders&, pid_t) {
  const pid_t pid = fork();
  if (pid == 0) _exit(setsid() > 0 ? 0 : 1);
  int status = 1;
  waitpid(pid, &status, 0);
  return status == 0;
}
// As many as no compilation has. All end with the first of them.
bool StartsProcessesWithoutEnd(const Folders&, pid_t) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  int started = 0;
  while (started < 400) {
    const pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      close(ends[1]);
      char byte;
      _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    ++started;
  }
  close(ends[1]);
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  return started == 400;
}

struct CompileEscape {
  const char* name;
  ConfinementPart against;
  bool (*tries)(const Folders&, pid_t worker);
};
#define ESCAPE(name, part) \
  { #name, ConfinementPart::part, name }
constexpr CompileEscape kCompileEscapes[] = {
    ESCAPE(ReadsAFile, kFiles),
    ESCAPE(ReadsBesideItsFolder, kFiles),
    ESCAPE(WritesBesideItsFolder, kFiles),
    ESCAPE(RemovesBesideItsFolder, kFiles),
    ESCAPE(LinksWhatIsBeside, kFiles),
    ESCAPE(ReadsWhatTheWorkerWasTold, kFiles),
    ESCAPE(RunsWhatItWrote, kFiles),
    ESCAPE(MakesASocket, kSystemCalls),
    ESCAPE(MakesALocalSocket, kSystemCalls),
    ESCAPE(TracesTheWorker, kSystemCalls),
    ESCAPE(SignalsTheWorker, kSignals),
    ESCAPE(ReadsTheWorkersMemory, kSystemCalls),
    ESCAPE(TakesHoldOfTheWorker, kSystemCalls),
    ESCAPE(MakesANamespace, kSystemCalls),
    ESCAPE(CallsThroughARing, kSystemCalls),
    ESCAPE(LeavesSharedMemory, kSystemCalls),
    ESCAPE(LeavesItsSession, kSystemCalls),
    ESCAPE(StartsProcessesWithoutEnd, kTasks),
};
#undef ESCAPE

class CompileEscapeTest : public ::testing::TestWithParam<CompileEscape> {
 protected:
  // Nobody must get to its folders.
  static void SetUpTestSuite() { unsetenv("TEST_TMPDIR"); }
  void SetUp() override {
    tree_.Write("own/file", "");
    tree_.Write("beside/secret", "s");
    tree_.Write("beside/victim", "v");
    for (const char* path : {"", "own", "beside", "beside/secret", "beside/victim"}) {
      ASSERT_EQ(chmod(tree_.Path(path).c_str(), 0777), 0);
    }
  }
  Outcome Try(const Bounds* bounds) {
    const Folders folders = {tree_.Path("own"), tree_.Path("beside")};
    return Attack(
        [&](pid_t worker) {
          return GetParam().tries(folders, worker) ? Outcome::kEscaped : Outcome::kStopped;
        },
        bounds);
  }

  TempTree tree_;
};

TEST_P(CompileEscapeTest, IsThereWithoutAConfinement) {
  EXPECT_EQ(static_cast<char>(Try(nullptr)), 'e');
}

TEST_P(CompileEscapeTest, IsStoppedInACompileChild) {
  const Bounds bounds = {CompileConfinement({tree_.Path("own")}, {"/usr/bin"})};
  if (Lacks(bounds.confinement, GetParam().against)) {
    GTEST_SKIP() << "this kernel does not give: " << Name(GetParam().against);
  }
  EXPECT_EQ(static_cast<char>(Try(&bounds)), 's');
}

// It may have as many threads as a program, so as many processes.
TEST_P(CompileEscapeTest, IsStoppedInARunnerWithAnAccelerator) {
  if (GetParam().against == ConfinementPart::kTasks) GTEST_SKIP() << "it may start as many";
  const Bounds bounds = {AcceleratorConfinement("/nonexistent", tree_.Path("own"))};
  const ConfinementPart against = GetParam().against == ConfinementPart::kSignals
                                      ? ConfinementPart::kSystemCalls
                                      : GetParam().against;
  if (Lacks(bounds.confinement, against)) {
    GTEST_SKIP() << "this kernel does not give: " << Name(against);
  }
  EXPECT_EQ(static_cast<char>(Try(&bounds)), 's');
}

// A user's worker lets nobody trace it, and its own files in /proc are root's then.
TEST(CompileConfinementTest, IsTriedByAWorkerThatIsGuardedAsItIsTakenOnLater) {
  const Confinement confinement = CompileConfinement({}, {});
  const auto parts_missing = [&confinement] {
    const absl::StatusOr<MissingParts> missing = ProbeConfinement(confinement);
    return missing.ok() ? ToString(*missing) : std::string(missing.status().message());
  };
  const Outcome outcome = Attack(
      [&](pid_t) {
        const std::string before = parts_missing();
        if (!GuardProcess().ok()) return Outcome::kBroken;
        return parts_missing() == before ? Outcome::kStopped : Outcome::kEscaped;
      },
      nullptr);
  EXPECT_EQ(static_cast<char>(outcome), 's');
}

INSTANTIATE_TEST_SUITE_P(All, CompileEscapeTest, ::testing::ValuesIn(kCompileEscapes),
                         [](const ::testing::TestParamInfo<CompileEscape>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace slipway::testing
