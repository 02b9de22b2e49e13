#include "tests/common/process_list.h"

#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/base/files.h"

namespace slipway::testing {
namespace {

// A file of /proc, whose size nobody knows before. Empty when the process is gone or not ours to read.
std::string ReadProc(pid_t pid, absl::string_view name) {
  constexpr int64_t kMaxBytes = 16 << 20;
  return ReadFile(absl::StrCat("/proc/", pid, "/", name), kMaxBytes).value_or("");
}

std::vector<std::string> SplitZeros(absl::string_view bytes) {
  return absl::StrSplit(absl::StripSuffix(bytes, absl::string_view("\0", 1)), '\0');
}

// The file it runs; empty for a zombie and for threads of the kernel.
std::string Executable(pid_t pid) {
  char target[PATH_MAX];
  const ssize_t length =
      readlink(absl::StrCat("/proc/", pid, "/exe").c_str(), target, sizeof(target));
  return std::string(target, length > 0 ? static_cast<size_t>(length) : 0);
}

// A process in the middle of execve has none for a moment.
std::string ReadEnvironment(pid_t pid) {
  std::string environment = ReadProc(pid, "environ");
  for (int i = 0; i < 100 && environment.empty() && !Executable(pid).empty(); ++i) {
    sched_yield();
    environment = ReadProc(pid, "environ");
  }
  return environment;
}

// By a path below the folder that marks it, or by its environment, which may be empty, or not be told.
bool HasMark(pid_t pid, const std::vector<std::string>& arguments, absl::string_view mark) {
  const std::string below = absl::StrCat(mark.substr(mark.find('=') + 1), "/");
  if (pid != getpid() &&
      std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
        return absl::StrContains(argument, below);
      })) {
    return true;
  }
  const std::vector<std::string> environment = SplitZeros(ReadEnvironment(pid));
  return std::find(environment.begin(), environment.end(), mark) != environment.end();
}

std::optional<RunningProcess> Describe(pid_t pid, absl::string_view mark) {
  std::vector<std::string> arguments = SplitZeros(ReadProc(pid, "cmdline"));
  if (!HasMark(pid, arguments, mark)) return {};
  // "PID (NAME) STATE PARENT ...", where NAME may hold anything.
  const std::string stat = ReadProc(pid, "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  const std::vector<std::string> fields =
      absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
  RunningProcess process;
  process.pid = pid;
  if (fields.size() < 2 || fields[0] == "Z" || fields[0] == "X" ||
      !absl::SimpleAtoi(fields[1], &process.parent)) {
    return {};
  }
  const std::string executable = Executable(pid);
  // That of a process which keeps others out is not told.
  const absl::string_view path = executable.empty() ? absl::string_view(arguments.front())
                                                    : absl::StripSuffix(executable, " (deleted)");
  process.program = std::string(path.substr(path.rfind('/') + 1));
  process.arguments = std::move(arguments);
  if (!process.arguments.empty()) process.arguments.erase(process.arguments.begin());
  return process;
}

// A number in /proc/PID/status.
int64_t StatusNumber(pid_t pid, absl::string_view name) {
  const std::string status = ReadProc(pid, "status");
  for (const absl::string_view line : absl::StrSplit(status, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t number = 0;
    if (words.size() >= 2 && words[0] == name && absl::SimpleAtoi(words[1], &number)) {
      return number;
    }
  }
  return 0;
}

}  // namespace

std::string RunningProcess::ToString() const {
  return absl::StrCat(program, " ", absl::StrJoin(arguments, " "), " (pid ", pid, ", child of ",
                      parent, ")");
}

std::vector<RunningProcess> ListProcesses(absl::string_view mark) {
  std::vector<RunningProcess> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::optional<RunningProcess> process = Describe(pid, mark);
    if (process.has_value()) processes.push_back(*std::move(process));
  }
  std::sort(processes.begin(), processes.end(),
            [](const RunningProcess& a, const RunningProcess& b) { return a.pid < b.pid; });
  return processes;
}

std::vector<RunningProcess> AwaitNoProcess(absl::string_view mark, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    std::vector<RunningProcess> left = ListProcesses(mark);
    if (left.empty() || absl::Now() >= deadline) return left;
    const UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, left.front().pid, 0)));
    if (!fd.is_open()) continue;  // It has just ended.
    pollfd poll_fd = {.fd = fd.get(), .events = POLLIN, .revents = 0};
    poll(&poll_fd, 1, static_cast<int>(absl::ToInt64Milliseconds(deadline - absl::Now())) + 1);
  }
}

int64_t ResidentBytes(pid_t pid) { return StatusNumber(pid, "VmRSS:") * 1024; }

int64_t ThreadCount(pid_t pid) { return StatusNumber(pid, "Threads:"); }

absl::Duration ProcessorTime(pid_t pid) {
  const std::string stat = ReadProc(pid, "stat");
  const std::vector<std::string> fields = absl::StrSplit(
      stat.substr(std::min(stat.size(), stat.rfind(')') + 1)), ' ', absl::SkipEmpty());
  constexpr size_t kUserTime = 11;  // Behind the name; the next is the system's.
  int64_t user = 0;
  int64_t system = 0;
  if (fields.size() < kUserTime + 2 || !absl::SimpleAtoi(fields[kUserTime], &user) ||
      !absl::SimpleAtoi(fields[kUserTime + 1], &system)) {
    return absl::ZeroDuration();
  }
  return absl::Seconds(1) * (user + system) / sysconf(_SC_CLK_TCK);
}

int64_t PeakResidentBytes(pid_t pid) { return StatusNumber(pid, "VmHWM:") * 1024; }

void ForgetPeak(pid_t pid) { std::ofstream(absl::StrCat("/proc/", pid, "/clear_refs")) << "5"; }

}  // namespace slipway::testing
