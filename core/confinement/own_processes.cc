#include "core/confinement/own_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "core/base/files.h"

namespace slipway {
namespace {

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) _exit(1);
  }
  return status;
}

[[noreturn]] void EndAs(int status) {
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

// In a child that is to be killed when its parent ends, of which the end of the file of `parent` tells, too: it may have ended
// before. Numbers do not tell, since it has none here.
void EndWithParent(int parent) {
  char byte;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || read(parent, &byte, 1) == 0) _exit(1);
}

// The first process of the numbers: when it ends the kernel kills all others, who cannot kill it, and what loses its parent is
// its child.
[[noreturn]] void BeFirst(UniqueFd parent, UniqueFd ready) {
  EndWithParent(parent.get());
  signal(SIGCHLD, SIG_IGN);  // Who ends is forgotten.
  if (write(ready.get(), "r", 1) != 1) _exit(1);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  while (true) poll(nullptr, 0, -1);
}

[[noreturn]] void Follow(UniqueFd alive, pid_t first, pid_t child) {
  // What the child closes shall be closed.
  close_range(STDERR_FILENO + 1, static_cast<unsigned>(alive.get()) - 1, 0);
  close_range(static_cast<unsigned>(alive.get()) + 1, ~0U, 0);
  const int status = WaitFor(child);
  kill(first, SIGKILL);
  WaitFor(first);
  EndAs(status);
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

absl::StatusOr<Pipe> MakePipe(int flags) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | flags) != 0) return ErrnoStatus(errno, "cannot make a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

absl::Status ContinueInOwnProcesses() {
  // Open for writing in this process alone, once its children have begun.
  absl::StatusOr<Pipe> alive = MakePipe(O_NONBLOCK);
  if (!alive.ok()) return alive.status();
  absl::StatusOr<Pipe> ready = MakePipe(0);
  if (!ready.ok()) return ready.status();
  const pid_t first = fork();
  if (first < 0) return ErrnoStatus(errno, "cannot start the first process of a space of its own");
  if (first == 0) {
    alive->write.reset();
    BeFirst(std::move(alive->read), std::move(ready->write));
  }
  ready->write.reset();
  char byte;
  if (read(ready->read.get(), &byte, 1) != 1) EndAs(WaitFor(first));
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "cannot go on in a space of its own");
  if (child > 0) Follow(std::move(alive->write), first, child);
  alive->write.reset();
  EndWithParent(alive->read.get());
  return absl::OkStatus();
}

}  // namespace slipway
