#include "tests/conformance/run_cases.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/check.h"

namespace slipway {
namespace {

using Verdict = CaseResult::Verdict;

// A child that runs a case. It writes the verdict's number, the operator and the reason, each ended by a zero byte.
struct Child {
  size_t place = 0;  // Of the case.
  pid_t process = -1;
  int pipe = -1;
  absl::Time deadline;
  std::string written;
};

void WriteAll(int file, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) done += static_cast<size_t>(count);
  }
}

Child Start(size_t place, const BackendCase& backend_case,
            const std::function<CaseResult(const BackendCase&)>& run, absl::Duration limit) {
  int ends[2];
  SLIPWAY_CHECK(pipe(ends) == 0, std::strerror(errno));
  const pid_t process = fork();
  SLIPWAY_CHECK(process >= 0, std::strerror(errno));
  if (process == 0) {
    close(ends[0]);
    const CaseResult result = run(backend_case);
    const std::string zero(1, '\0');
    WriteAll(ends[1], absl::StrCat(static_cast<int>(result.verdict), zero, result.op, zero,
                                   result.reason, zero));
    _exit(0);
  }
  close(ends[1]);
  return {place, process, ends[0], absl::Now() + limit, ""};
}

// What a child that has ended said, or how it ended.
CaseResult Finish(const Child& child, bool killed) {
  close(child.pipe);
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  CaseResult result;
  const size_t op = child.written.find('\0');
  const size_t reason = op == std::string::npos ? op : child.written.find('\0', op + 1);
  const bool complete = reason != std::string::npos && child.written.back() == '\0' &&
                        child.written.size() > reason + 1;
  if (complete) {
    result.verdict = static_cast<Verdict>(child.written[0] - '0');
    result.op = child.written.substr(op + 1, reason - op - 1);
    result.reason = child.written.substr(reason + 1, child.written.size() - reason - 2);
    return result;
  }
  result.op = "(unknown)";
  result.verdict = killed ? Verdict::kHung : Verdict::kCrashed;
  result.reason = killed                ? "it hung: no result before the deadline"
                  : WIFSIGNALED(status) ? absl::StrCat("it crashed: signal ", WTERMSIG(status))
                                        : absl::StrCat("it exited: status ", WEXITSTATUS(status));
  return result;
}

// Waits until a child has written or a deadline has passed. Whether child i has more to say.
std::vector<bool> Wait(const std::vector<Child>& children) {
  absl::Time first = absl::InfiniteFuture();
  std::vector<pollfd> polled;
  for (const Child& child : children) {
    polled.push_back({child.pipe, POLLIN, 0});
    first = std::min(first, child.deadline);
  }
  const int64_t left = absl::ToInt64Milliseconds(first - absl::Now()) + 1;
  poll(polled.data(), polled.size(), static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
  std::vector<bool> ready;
  for (const pollfd& one : polled) ready.push_back(one.revents != 0);
  return ready;
}

}  // namespace

std::vector<CaseResult> RunCases(const std::vector<BackendCase>& cases,
                                 const std::function<CaseResult(const BackendCase&)>& run,
                                 const ProcessOptions& options) {
  std::vector<CaseResult> results(cases.size());
  std::vector<Child> children;
  const size_t most = static_cast<size_t>(std::max(options.jobs, 1));
  for (size_t next = 0; next < cases.size() || !children.empty();) {
    while (children.size() < most && next < cases.size()) {
      children.push_back(Start(next, cases[next], run, options.deadline));
      ++next;
    }
    const std::vector<bool> ready = Wait(children);
    std::vector<Child> running;
    for (size_t i = 0; i < children.size(); ++i) {
      Child& child = children[i];
      bool ended = false;
      if (ready[i]) {
        char buffer[4096];
        const ssize_t count = read(child.pipe, buffer, sizeof(buffer));
        if (count > 0) child.written.append(buffer, static_cast<size_t>(count));
        ended = count == 0;
      }
      const bool killed = !ended && absl::Now() >= child.deadline;
      if (killed) kill(child.process, SIGKILL);
      if (ended || killed) {
        results[child.place] = Finish(child, killed);
        results[child.place].name = cases[child.place].name;
      } else {
        running.push_back(std::move(child));
      }
    }
    children = std::move(running);
  }
  return results;
}

}  // namespace slipway
