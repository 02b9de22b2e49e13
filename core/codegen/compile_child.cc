#include "core/codegen/compile_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/mapped_bytes.h"
#include "core/base/status_macros.h"
#include "core/codegen/limits.h"

namespace slipway {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitOutOfMemory = 17;
constexpr int kExitStatusBase = 64;  // Plus the code of the status in the message file.

absl::StatusOr<UniqueFd> MemoryFile(const char* name) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC));
  if (!fd.is_open()) return ErrnoStatus(errno, "memfd_create for a kernel's compilation");
  return fd;
}

// The whole file, or its last `max_bytes`.
std::string ReadAll(int fd, int64_t max_bytes) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return "";
  const int64_t size = std::min<int64_t>(status.st_size, max_bytes);
  std::string bytes(size, '\0');
  int64_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd, bytes.data() + done, size - done, status.st_size - size + done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += n;
  }
  bytes.resize(done);
  return bytes;
}

void WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes.remove_prefix(n);
  }
}

void Limit(int resource, int64_t value) {
  const struct rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(resource, &limit);
}

[[noreturn]] void RunChild(const ChildBody& body, int result, int message, int log, pid_t parent,
                           int64_t memory_limit_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitStatusBase);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, kMaxObjectBytes);
  if (memory_limit_bytes > 0) Limit(RLIMIT_AS, MappedBytes().value_or(0) + memory_limit_bytes);
  absl::Status status;
  try {
    status = body(absl::StrCat("/proc/self/fd/", result));
  } catch (const std::bad_alloc&) {
    _exit(kExitOutOfMemory);
  } catch (const std::exception& error) {
    status = absl::InternalError(absl::StrCat("the kernel generator failed: ", error.what()));
  } catch (...) {
    status = absl::InternalError("the kernel generator threw something unknown");
  }
  if (status.ok()) _exit(kExitDone);
  WriteAll(message, absl::string_view(status.message().data(), status.message().size()));
  _exit(kExitStatusBase + static_cast<int>(status.code()));
}

}  // namespace

absl::StatusOr<CompileChild> CompileChild::Start(const ChildBody& body,
                                                 int64_t memory_limit_bytes) {
  CompileChild child;
  SLIPWAY_ASSIGN_OR_RETURN(child.result_, MemoryFile("kernel"));
  SLIPWAY_ASSIGN_OR_RETURN(child.message_, MemoryFile("message"));
  SLIPWAY_ASSIGN_OR_RETURN(child.log_, MemoryFile("log"));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for a kernel's compilation");
  child.done_.reset(ends[0]);
  UniqueFd write_end(ends[1]);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "fork for a kernel's compilation");
  if (pid == 0) {
    RunChild(body, child.result_.get(), child.message_.get(), child.log_.get(), parent,
             memory_limit_bytes);
  }
  child.pid_ = pid;
  return child;
}

CompileChild::CompileChild(CompileChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      done_(std::move(other.done_)),
      result_(std::move(other.result_)),
      message_(std::move(other.message_)),
      log_(std::move(other.log_)) {}

CompileChild& CompileChild::operator=(CompileChild&& other) noexcept {
  if (this == &other) return *this;
  Kill();
  pid_ = std::exchange(other.pid_, -1);
  done_ = std::move(other.done_);
  result_ = std::move(other.result_);
  message_ = std::move(other.message_);
  log_ = std::move(other.log_);
  return *this;
}

CompileChild::~CompileChild() { Kill(); }

void CompileChild::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string CompileChild::Log() const { return ReadAll(log_.get(), kMaxLogBytes); }

absl::StatusOr<std::string> CompileChild::Finish() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) {
      pid_ = -1;
      return ErrnoStatus(errno, "waitpid for a kernel's compilation");
    }
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    const int signal_number = WTERMSIG(status);
    // Generators do not kill themselves.
    if (signal_number == SIGKILL || signal_number == SIGTERM) {
      return absl::AbortedError(
          absl::StrCat("the kernel generator was killed by signal ", signal_number,
                       ": from outside, or because the machine has no memory left"));
    }
    const std::string log = Log();
    // LLVM does not throw when memory ends; it says so and aborts.
    if (signal_number == SIGABRT && absl::StrContains(log, "out of memory")) {
      return absl::ResourceExhaustedError("the kernel generator ran out of memory");
    }
    return absl::InternalError(absl::StrCat("the kernel generator was killed by signal ",
                                            signal_number, " (", strsignal(signal_number),
                                            "); the end of its log:\n", log));
  }
  const int code = WEXITSTATUS(status);
  if (code == kExitDone) return ReadAll(result_.get(), kMaxObjectBytes);
  if (code == kExitOutOfMemory) {
    return absl::ResourceExhaustedError("the kernel generator ran out of memory");
  }
  if (code > kExitStatusBase && code <= kExitStatusBase + 16) {
    return absl::Status(static_cast<absl::StatusCode>(code - kExitStatusBase),
                        ReadAll(message_.get(), kMaxLogBytes));
  }
  return absl::InternalError(absl::StrCat("the kernel generator exited with code ", code,
                                          "; the end of its log:\n", Log()));
}

}  // namespace slipway
