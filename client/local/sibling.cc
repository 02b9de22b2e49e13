#include "client/local/sibling.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr int kReadyFd = 3;  // In the child.
constexpr size_t kShownLogBytes = 2000;

std::string FolderOf(absl::string_view path) {
  return std::string(path.substr(0, path.rfind('/')));
}

}  // namespace

absl::StatusOr<std::string> FindSibling(absl::string_view name, absl::string_view folder,
                                        absl::string_view wish, absl::string_view executable) {
  const auto runs = [](const std::string& path) { return access(path.c_str(), X_OK) == 0; };
  if (!wish.empty()) {
    if (runs(std::string(wish))) return std::string(wish);
    return absl::NotFoundError(absl::StrCat("\"", wish, "\" is no program that can be run"));
  }
  const std::string own = FolderOf(executable);
  const std::string installed = JoinPath(own, name);
  const std::string built = JoinPath(JoinPath(FolderOf(own), folder), name);
  if (runs(installed)) return installed;
  if (runs(built)) return built;
  return absl::NotFoundError(
      absl::StrCat("\"", name, "\" is needed to work without a server, and is neither at \"",
                   installed, "\" nor at \"", built,
                   "\"; name a server with --server, or build \"//", folder, ":", name, "\""));
}

absl::StatusOr<std::string> OwnExecutable() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0) return ErrnoStatus(errno, "read \"/proc/self/exe\"");
  return std::string(path, static_cast<size_t>(size));
}

absl::StatusOr<std::unique_ptr<Sibling>> Sibling::Start(absl::string_view name,
                                                        std::vector<std::string> argv) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "make a pipe");
  UniqueFd read_end(fds[0]);
  const UniqueFd write_end(fds[1]);
  argv.push_back(absl::StrCat("--ready-fd=", kReadyFd));
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.fds = {{kReadyFd, write_end.get()}};
  options.stdout_stream = ChildStream::Tail();
  options.stderr_stream = ChildStream::Tail();
  options.follow_parent = true;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(auto process, Subprocess::Start(options),
                                absl::StrCat("start \"", options.argv[0], "\""));
  return std::unique_ptr<Sibling>(new Sibling(name, std::move(process), std::move(read_end)));
}

absl::Status Sibling::WaitUntilReady(absl::Duration timeout) {
  if (!ready_.is_open()) return absl::OkStatus();
  const absl::Time give_up = absl::Now() + timeout;
  while (true) {
    pollfd waited = {.fd = ready_.get(), .events = POLLIN, .revents = 0};
    const int64_t left_ms =
        std::clamp<int64_t>(absl::ToInt64Milliseconds(give_up - absl::Now()), 0, 1'000'000);
    const int polled = poll(&waited, 1, static_cast<int>(left_ms));
    if (polled < 0 && errno == EINTR) continue;
    if (polled < 0) return ErrnoStatus(errno, "wait for a process");
    if (polled == 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("\"", name_, "\" was not ready within ", absl::FormatDuration(timeout)));
    }
    char bytes[256];
    const ssize_t size = read(ready_.get(), bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    if (std::find(bytes, bytes + size, '\n') != bytes + size) {
      ready_.reset();
      return absl::OkStatus();
    }
  }
  // The pipe is closed: it has ended, or is about to.
  const absl::StatusOr<ExitStatus> ended = process_->Wait(absl::Seconds(2));
  std::string log = process_->OutputTail();
  if (log.size() > kShownLogBytes) log = log.substr(log.size() - kShownLogBytes);
  return absl::FailedPreconditionError(
      absl::StrCat("\"", name_, "\" ended before it was ready (",
                   ended.ok() ? ended->ToString() : "and still runs",
                   "): ", log.empty() ? "no log" : absl::StripAsciiWhitespace(log)));
}

void Sibling::WaitForEnd(absl::Duration grace) {
  if (!process_->Wait(grace).ok()) process_->Kill();
}

}  // namespace slipway
