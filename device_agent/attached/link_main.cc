#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/out_of_memory.h"
#include "core/base/status_macros.h"
#include "core/store/blob_store.h"
#include "core/store/file_blob_store.h"
#include "core/wire/digest_proto.h"
#include "device_agent/attached/attached.pb.h"
#include "device_agent/attached/attached_device.h"
#include "device_agent/attached/attached_main.h"
#include "device_agent/attached/expected_answers.h"
#include "device_agent/attached/link_arguments.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner_commands.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {
namespace {

// To reach the device, and to bring the binary there.
constexpr absl::Duration kTimeToStart = absl::Minutes(10);
// What a device that has ended still has to say.
constexpr absl::Duration kTimeToEnd = absl::Seconds(2);
// How soon a cancelling goes out, and how often a call that lasts is asked where it stands.
constexpr absl::Duration kLookForCancelling = absl::Milliseconds(10);
constexpr absl::Duration kAskWhere = absl::Seconds(1);
constexpr int64_t kPieceBytes = 256 << 10;

// As the last line, it is why the device is lost (RunnerProcess); in its absence that is what the command wrote.
void Say(absl::string_view why) {
  const std::string line = absl::StrCat("\n", why, "\n");
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

class Link {
 public:
  Link(DeviceCommand device, RunnerWindow& window, BlobStore& cache)
      : device_(std::move(device)), window_(window), cache_(cache) {}

  // Never returns: ends the process.
  [[noreturn]] void Run() {
    std::thread([this] { ServeDevice(); }).detach();
    std::thread([this] { WatchCalls(); }).detach();
    FrameReader from_agent(kRunnerSocket);
    while (true) {
      runner::Request request;
      const absl::Status read = from_agent.Read(request, absl::InfiniteDuration());
      if (!read.ok()) {
        // The device ends its runner when the stream ends.
        shutdown(device_.stream.get(), SHUT_WR);
        if (!device_.process->Wait(kTimeToEnd).ok()) device_.process->Kill();
        _exit(absl::IsUnavailable(read) ? 0 : 1);
      }
      Forward(request);
    }
  }

 private:
  absl::Duration Now() const { return SystemClock().Monotonic(); }

  void Send(const attached::ToDevice& message) {
    absl::MutexLock lock(&stream_mutex_);
    // Where the device is gone, whoever reads from it says so.
    WriteFrame(device_.stream.get(), message, absl::InfiniteDuration()).IgnoreError();
  }

  void Forward(runner::Request& request) {
    attached::ToDevice message;
    if (request.not_after_ns() != 0) {
      message.set_begin_within_ns(
          std::max<int64_t>(1, request.not_after_ns() - absl::ToInt64Nanoseconds(Now())));
      request.clear_not_after_ns();
    }
    if (request.operation().has_write()) {
      // The agent, which is the other end's parent, keeps to its window.
      message.set_data(window_.data() + request.data_offset(),
                       static_cast<size_t>(request.data_size()));
    }
    answers_.Ask(request, Now());
    *message.mutable_request() = std::move(request);
    Send(message);
  }

  // --- What the device says. It may be anybody's: all of it is checked. ---

  [[noreturn]] void ServeDevice() {
    absl::Status status;
    while (status.ok()) {
      attached::FromDevice message;
      status = device_.reader->Read(message, absl::InfiniteDuration());
      if (status.ok()) status = Take(message);
    }
    device_.process->Kill();
    if (!absl::IsUnavailable(status))
      Say(absl::StrCat("it breaks the protocol: ", status.message()));
    Lose();
  }

  [[noreturn]] void Lose() {
    window_.status().is_lost = true;
    _exit(1);
  }

  absl::Status Take(attached::FromDevice& message) {
    switch (message.kind_case()) {
      case attached::FromDevice::kResponse:
        return TakeResponse(message);
      case attached::FromDevice::kNeed:
        return SendBlobs(message.need());
      case attached::FromDevice::kPlace:
        Note(message.place());
        return absl::OkStatus();
      case attached::FromDevice::kEnd:
        EndAs(message.end());
      case attached::FromDevice::KIND_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("a message of no kind");
  }

  absl::Status TakeResponse(const attached::FromDevice& message) {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t offset, answers_.Take(message, Now()));
    std::copy(message.data().begin(), message.data().end(), window_.data() + offset);
    return WriteFrame(kRunnerSocket, message.response(), absl::InfiniteDuration());
  }

  absl::Status SendBlobs(const attached::FromDevice::Need& need) {
    for (const attached::FromDevice::Need::Rest& rest : need.rests()) {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, answers_.Give(rest));
      const absl::Status sent = SendBlob(digest, rest.offset());
      if (sent.ok()) continue;
      attached::ToDevice message;
      *message.mutable_gone()->mutable_blob() = ToProto(digest);
      message.mutable_gone()->set_message(std::string(sent.message()));
      Send(message);
    }
    return absl::OkStatus();
  }

  absl::Status SendBlob(const Digest& digest, int64_t offset) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<BlobReader> reader, cache_.Open(digest));
    do {
      const int64_t size = std::min(kPieceBytes, digest.size_bytes() - offset);
      attached::ToDevice message;
      *message.mutable_piece()->mutable_blob() = ToProto(digest);
      message.mutable_piece()->set_offset(offset);
      SLIPWAY_ASSIGN_OR_RETURN(*message.mutable_data(), reader->Read(offset, size));
      Send(message);
      offset += size;
    } while (offset < digest.size_bytes());
    return absl::OkStatus();
  }

  void Note(const attached::FromDevice::Place& place) {
    window_.status().position = place.position();
    window_.status().program = place.program();
  }

  [[noreturn]] void EndAs(const attached::FromDevice::End& end) {
    Note(end.place());
    // Its command brings what was printed, and ends.
    if (!device_.process->Wait(kTimeToEnd).ok()) device_.process->Kill();
    if (end.is_out_of_memory()) _exit(kOutOfMemoryExitCode);
    const int number = end.signal();
    if (number <= 0 || number >= NSIG) _exit(end.exit_code());
    // Those stop a process, and end none.
    if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU) Lose();
    // As the runner: no file is written for this process, which is well.
    const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    signal(number, SIG_DFL);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, number);
    sigprocmask(SIG_UNBLOCK, &signals, nullptr);
    raise(number);
    // A signal that kills nobody, says the device.
    Lose();
  }

  // --- What the agent tells through the window, and learns there. ---

  [[noreturn]] void WatchCalls() {
    absl::Duration asked_at = absl::ZeroDuration();
    while (true) {
      const absl::Duration since = answers_.AwaitAsked();
      SendCancellings();
      if (Now() - std::max(since, asked_at) >= kAskWhere) {
        attached::ToDevice message;
        message.set_where(true);
        Send(message);
        asked_at = Now();
      }
      absl::SleepFor(kLookForCancelling);
    }
  }

  void SendCancellings() {
    for (RunnerStatus::Cancelling& cancelling : window_.status().cancellings) {
      if (!cancelling.flag.exchange(false)) continue;
      attached::ToDevice message;
      message.set_cancel(cancelling.id);
      Send(message);
    }
  }

  const DeviceCommand device_;
  RunnerWindow& window_;
  BlobStore& cache_;
  absl::Mutex stream_mutex_;
  ExpectedAnswers answers_;
};

absl::Status Serve(const LinkArguments& arguments) {
  FileBlobStore::Options options;
  options.folder = arguments.cache_folder;
  options.durable = false;
  options.notes_uses = false;  // The agent does.
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<FileBlobStore> cache,
                           FileBlobStore::Create(options));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<RunnerWindow> window,
                           RunnerWindow::Map(kRunnerWindow));
  absl::StatusOr<DeviceCommand> device = RunOnDevice(
      arguments.device, kAttachedCommand,
      {arguments.log_level, arguments.require_confinement ? kConfinedWholly : kConfinedAsCan,
       absl::StrCat(arguments.memory_bytes), absl::StrCat(arguments.cache_quota_bytes)},
      ChildStream::Inherit(), SystemClock().Monotonic() + kTimeToStart);
  if (!device.ok()) {
    if (!absl::IsUnavailable(device.status())) Say(device.status().message());
    window->status().is_lost = true;
    _exit(1);
  }
  Link(*std::move(device), *window, *cache).Run();
}

}  // namespace

int LinkMain(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  const absl::StatusOr<LinkArguments> arguments =
      ParseLinkArguments(std::vector<std::string>(argv + 1, argv + argc));
  InitLog("slipway-agent link", LogLevel::kWarning);
  const absl::Status status = arguments.ok() ? Serve(*arguments) : arguments.status();
  Log(LogLevel::kError, "the link ends", {{"error", status.ToString()}});
  return 1;
}

}  // namespace slipway
