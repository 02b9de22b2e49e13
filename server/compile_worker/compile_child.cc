#include "server/compile_worker/compile_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/clock.h"
#include "core/base/out_of_memory.h"
#include "core/base/status_macros.h"
#include "core/confinement/profiles.h"
#include "core/wire/status_proto.h"
#include "server/compile_worker/abandoned_folders.h"

namespace slipway::worker {
namespace {

// A report with a graph's text.
constexpr int64_t kMaxResponseBytes = 48 << 20;
constexpr size_t kMaxProgressLine = 4'096;

std::string Mebibytes(int64_t bytes) { return absl::StrCat(bytes >> 20, " MiB"); }

// "STAGE\tDONE\tTOTAL"; what is no such line is passed over.
void TellProgress(absl::string_view line, const ReportProgress& progress) {
  const std::vector<absl::string_view> parts = absl::StrSplit(line, '\t');
  int64_t done;
  int64_t total;
  if (parts.size() == 3 && absl::SimpleAtoi(parts[1], &done) &&
      absl::SimpleAtoi(parts[2], &total)) {
    progress(parts[0], done, total);
  }
}

}  // namespace

CompileChild::CompileChild(const Options& options, TemporaryFolder folder, UniqueFd hold,
                           UniqueFd progress, std::unique_ptr<ControlGroup> group,
                           std::unique_ptr<Subprocess> process)
    : options_(options),
      begin_(SystemClock().Monotonic()),
      kills_before_(OutOfMemoryKills(options.vmstat)),
      folder_(std::move(folder)),
      hold_(std::move(hold)),
      progress_(std::move(progress)),
      group_(std::move(group)),
      process_(std::move(process)) {}

absl::StatusOr<std::unique_ptr<CompileChild>> CompileChild::Start(
    const Options& options, const CompileChildRequest& request) {
  SLIPWAY_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create(kFolderPrefix));
  SLIPWAY_ASSIGN_OR_RETURN(UniqueFd hold, HoldFolder(folder.path()));
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder.path(), kRequestFile),
                                              request.SerializeAsString(), /*durable=*/false));
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd read_end(fds[0]);
  const UniqueFd write_end(fds[1]);
  SubprocessOptions process_options;
  process_options.argv = options.command;
  process_options.argv.push_back(kCompileSubcommand);
  process_options.argv.push_back(folder.path());
  // Where the linker and its libraries are found; nothing else that the worker was told.
  process_options.inherit_environment = false;
  for (const char* name : {"PATH", "LD_LIBRARY_PATH"}) {
    if (const char* value = getenv(name)) process_options.environment.emplace_back(name, value);
  }
  process_options.fds = {{kProgressFd, write_end.get()}};
  process_options.stdout_stream = ChildStream::Tail();
  process_options.stderr_stream = ChildStream::Tail();
  process_options.waits_for_limits = true;
  if (options.memory_bytes > 0) process_options.limits.data_bytes = options.memory_bytes;
  std::unique_ptr<ControlGroup> group;
  if (options.groups != nullptr) {
    GroupLimits limits = {.tasks = CompileConfinement({}, {}).max_tasks};
    if (options.memory_bytes > 0) limits.memory_bytes = options.memory_bytes;
    SLIPWAY_ASSIGN_OR_RETURN(group, options.groups->Make(limits));
  }
  process_options.group = group.get();
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<Subprocess> process, Subprocess::Start(process_options));
  return std::unique_ptr<CompileChild>(new CompileChild(options, std::move(folder), std::move(hold),
                                                        std::move(read_end), std::move(group),
                                                        std::move(process)));
}

// Until the child closes its end; false when the deadline comes first.
bool CompileChild::FollowProgress(const ReportProgress& progress) {
  const SystemClock clock;
  std::string pending;
  while (true) {
    const absl::Duration left = options_.deadline - (clock.Monotonic() - begin_);
    if (left <= absl::ZeroDuration()) return false;
    pollfd waiting = {.fd = progress_.get(), .events = POLLIN, .revents = 0};
    const int64_t wait = std::min<int64_t>(absl::ToInt64Milliseconds(left) + 1, 1 << 30);
    const int ready = poll(&waiting, 1, static_cast<int>(wait));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    char buffer[kMaxProgressLine];
    const ssize_t size = read(progress_.get(), buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return true;
    pending.append(buffer, static_cast<size_t>(size));
    for (size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      TellProgress(absl::string_view(pending).substr(0, end), progress);
    }
    if (pending.size() > kMaxProgressLine) pending.clear();
  }
}

absl::StatusOr<CompileChildResponse::Made> CompileChild::Wait(const ReportProgress& progress,
                                                              ChildFailure* failure) {
  const bool in_time = FollowProgress(progress);
  if (!in_time) process_->Kill();
  const absl::StatusOr<ExitStatus> end = process_->Wait();
  if (!end.ok()) return end.status();
  if (in_time && end->ok()) {
    const absl::StatusOr<std::string> bytes =
        ReadFile(JoinPath(folder_.path(), kResponseFile), kMaxResponseBytes);
    CompileChildResponse response;
    const bool has_response = bytes.ok() && response.ParseFromString(*bytes);
    if (has_response && response.has_made()) return std::move(*response.mutable_made());
    // Where memory was short it knows only that a process of its own is gone.
    if (has_response && !HasGroupOutOfMemory()) {
      // A process that it had started for a kernel was killed.
      const bool retriable = FromProto(response.error()).code() == absl::StatusCode::kAborted;
      *failure = {.error = response.error(), .retriable = retriable};
      failure->error.set_log_tail(
          ToProto(FromProto(response.error()), process_->OutputTail()).log_tail());
      return FromProto(response.error());
    }
  }
  *failure = Explain(*end, in_time);
  return FromProto(failure->error);
}

bool CompileChild::HasGroupOutOfMemory() const {
  return group_ != nullptr && group_->OutOfMemoryKills() > 0;
}

ChildFailure CompileChild::Explain(const ExitStatus& end, bool in_time) const {
  const std::string tail = process_->OutputTail();
  const auto make = [&tail](absl::StatusCode code, std::string message, bool retriable) {
    return ChildFailure{ToProto(absl::Status(code, message), tail), retriable};
  };
  if (!in_time) {
    return make(absl::StatusCode::kDeadlineExceeded,
                absl::StrCat("the compilation did not end within its deadline of ",
                             absl::FormatDuration(options_.deadline)),
                false);
  }
  // By its own limit, or by that of all its processes together.
  if (EndedOutOfMemory(end, tail) || HasGroupOutOfMemory()) {
    return make(absl::StatusCode::kResourceExhausted,
                absl::StrCat("the compilation needs more memory than the ",
                             Mebibytes(options_.memory_bytes), " that --compile-memory allows"),
                false);
  }
  if (end.signal == SIGKILL && OutOfMemoryKills(options_.vmstat) > kills_before_) {
    return make(absl::StatusCode::kResourceExhausted,
                "the system killed the compiling process for want of memory: allow its cgroup or "
                "machine more, or lower --capacity or --compile-memory",
                true);
  }
  if (end.signal == SIGKILL || end.signal == SIGTERM) {
    return make(absl::StatusCode::kAborted,
                absl::StrCat("the compiling process was ", end.ToString(),
                             ": from outside, or because the machine has no memory left"),
                true);
  }
  if (end.signal != 0) {
    return make(absl::StatusCode::kAborted, absl::StrCat("the compiler crashed: ", end.ToString()),
                false);
  }
  return make(absl::StatusCode::kInternal,
              absl::StrCat("the compiler ended with ", end.ToString(), " and no result"), false);
}

}  // namespace slipway::worker
