#include "device_agent/attached/attached_main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/store/blob_store.h"
#include "core/wire/digest_proto.h"
#include "device_agent/agent_cache.h"
#include "device_agent/attached/attached.pb.h"
#include "device_agent/attached/attached_device.h"
#include "device_agent/attached/blobs_of_request.h"
#include "device_agent/attached/stream_greeting.h"
#include "device_agent/own_device.h"
#include "device_agent/pinned_blobs.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner_commands.h"
#include "device_agent/runner/runner_process.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {
namespace {

// How often it is looked whether the runner is still there, when nobody asks it anything.
constexpr absl::Duration kLookAtRunner = absl::Seconds(1);

std::string CacheFolder(const std::string& folder) { return JoinPath(folder, "cache"); }

// The standard streams, as those of the connection: what else this process and its children print goes to stderr.
struct Connection {
  UniqueFd in;
  UniqueFd out;
};

absl::StatusOr<Connection> TakeStandardStreams() {
  Connection connection;
  connection.in.reset(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  connection.out.reset(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!connection.in.is_open() || !connection.out.is_open() || !nothing.is_open() ||
      dup2(nothing.get(), STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return ErrnoStatus(errno, "cannot take the standard streams");
  }
  for (const int stream : {connection.in.get(), connection.out.get()}) {
    if (fcntl(stream, F_SETFL, fcntl(stream, F_GETFL) | O_NONBLOCK) != 0) {
      return ErrnoStatus(errno, "cannot set up the standard streams");
    }
  }
  return connection;
}

absl::Status Greet(const Connection& connection) {
  SLIPWAY_RETURN_IF_ERROR(SendGreeting(connection.out.get(), absl::InfiniteDuration()));
  attached::Greeting greeting;
  greeting.set_version(kVersion);
  return WriteFrame(connection.out.get(), greeting, absl::InfiniteDuration());
}

// The blobs that requests need, as they come from the host. Thread-safe.
class ComingBlobs {
 public:
  explicit ComingBlobs(BlobStore& store) : store_(store) {}

  // What has to come before a request can be carried out; nothing if all is here. Errors of the store.
  absl::StatusOr<attached::FromDevice::Need> Begin(absl::Span<const Digest> blobs) {
    absl::MutexLock lock(&mutex_);
    attached::FromDevice::Need need;
    status_ = absl::OkStatus();
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Digest> unsound, store_.FindUnsound(blobs));
    for (const Digest& digest : unsound) {
      absl::StatusOr<std::unique_ptr<BlobWriter>> writer = store_.Write(digest);
      if (absl::IsAlreadyExists(writer.status())) continue;
      if (!writer.ok()) {
        writers_.clear();
        return writer.status();
      }
      attached::FromDevice::Need::Rest& rest = *need.add_rests();
      *rest.mutable_blob() = ToProto(digest);
      rest.set_offset((*writer)->committed_bytes());
      writers_[digest] = *std::move(writer);
    }
    return need;
  }

  // Waits until all has come, or one could not.
  absl::Status Await() {
    absl::MutexLock lock(&mutex_);
    const auto is_over = [this]()
                             ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return writers_.empty(); };
    mutex_.Await(absl::Condition(&is_over));
    return status_;
  }

  void Take(const attached::ToDevice::Piece& piece, absl::string_view data) {
    absl::MutexLock lock(&mutex_);
    const absl::Status status = Append(piece, data);
    if (!status.ok()) GiveUp(status);
  }

  void Take(const attached::ToDevice::Gone& gone) {
    absl::MutexLock lock(&mutex_);
    GiveUp(absl::NotFoundError(gone.message()));
  }

 private:
  absl::Status Append(const attached::ToDevice::Piece& piece, absl::string_view data)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(piece.blob()));
    const auto found = writers_.find(digest);
    if (found == writers_.end()) return absl::OkStatus();  // It was given up.
    BlobWriter& writer = *found->second;
    if (piece.offset() != writer.committed_bytes()) {
      return absl::DataLossError("a piece of a blob does not follow the one before");
    }
    SLIPWAY_RETURN_IF_ERROR(writer.Append(data));
    if (writer.committed_bytes() < digest.size_bytes()) return absl::OkStatus();
    const std::unique_ptr<BlobWriter> complete = std::move(found->second);
    writers_.erase(found);
    return complete->Commit();
  }

  void GiveUp(absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    status_ = Annotate(std::move(why), "bringing a blob to the device");
    writers_.clear();
  }

  BlobStore& store_;
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Digest, std::unique_ptr<BlobWriter>> writers_ ABSL_GUARDED_BY(mutex_);
};

class AttachedRunner {
 public:
  AttachedRunner(Connection connection, BlobStore& store, PinnedBlobs& pinned,
                 std::unique_ptr<RunnerProcess> runner)
      : connection_(std::move(connection)),
        pinned_(pinned),
        runner_(std::move(runner)),
        coming_(store) {}

  [[noreturn]] void Run() {
    runner_->FollowLog([](absl::string_view text) {
      if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // Nobody reads it.
    });
    std::thread([this] { ServeRequests(); }).detach();
    FrameReader from_host(connection_.in.get());
    while (true) {
      attached::ToDevice message;
      const absl::Status read = from_host.Read(message, absl::InfiniteDuration());
      if (!read.ok()) {
        runner_->Kill();
        _exit(absl::IsUnavailable(read) ? 0 : 1);
      }
      Take(message);
    }
  }

 private:
  void Take(attached::ToDevice& message) {
    switch (message.kind_case()) {
      case attached::ToDevice::kRequest: {
        if (message.begin_within_ns() != 0) {
          message.mutable_request()->set_not_after_ns(
              absl::ToInt64Nanoseconds(SystemClock().Monotonic()) + message.begin_within_ns());
        }
        absl::MutexLock lock(&mutex_);
        waiting_.push_back(std::move(message));
        return;
      }
      case attached::ToDevice::kPiece:
        return coming_.Take(message.piece(), message.data());
      case attached::ToDevice::kGone:
        return coming_.Take(message.gone());
      case attached::ToDevice::kCancel:
        return runner_->window()->status().Cancel(message.cancel());
      case attached::ToDevice::kWhere: {
        attached::FromDevice answer;
        *answer.mutable_place() = Place();
        return Send(answer);
      }
      case attached::ToDevice::KIND_NOT_SET:
        return;
    }
  }

  // --- One request at a time, on a thread of its own. ---

  [[noreturn]] void ServeRequests() {
    while (true) {
      attached::ToDevice message = AwaitRequest();
      attached::FromDevice answer;
      const absl::Status brought = BringBlobs(message.request());
      if (brought.ok()) {
        CarryOut(message, answer);
      } else {
        v1::SessionResponse& result = *answer.mutable_response()->mutable_result();
        result.set_id(message.request().operation().id());
        result.set_code(static_cast<int32_t>(brought.code()));
        result.set_message(std::string(brought.message()));
      }
      // What was printed comes before what came of it.
      runner_->ReadLog();
      Send(answer);
    }
  }

  attached::ToDevice AwaitRequest() {
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        const auto is_there = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
          return !waiting_.empty();
        };
        if (mutex_.AwaitWithTimeout(absl::Condition(&is_there), kLookAtRunner)) {
          attached::ToDevice message = std::move(waiting_.front());
          waiting_.pop_front();
          return message;
        }
      }
      if (runner_->HasEnded()) {
        runner::Response none;
        EndWith(runner_->Receive(absl::InfiniteDuration()).status());
      }
    }
  }

  absl::Status BringBlobs(const runner::Request& request) {
    const std::vector<Digest> blobs = BlobsOf(request);
    if (blobs.empty()) return absl::OkStatus();
    needed_.insert(blobs.begin(), blobs.end());
    pinned_.Pin(needed_);
    attached::FromDevice message;
    SLIPWAY_ASSIGN_OR_RETURN(*message.mutable_need(), coming_.Begin(blobs));
    if (message.need().rests().empty()) return absl::OkStatus();
    Send(message);
    return coming_.Await();
  }

  void CarryOut(attached::ToDevice& message, attached::FromDevice& answer) {
    const runner::Request& request = message.request();
    const bool is_in_window =
        request.data_offset() >= 0 && request.data_size() >= 0 &&
        request.data_size() <= RunnerWindow::kDataBytes &&
        request.data_offset() <= RunnerWindow::kDataBytes - request.data_size();
    char* const data = runner_->window()->data() + (is_in_window ? request.data_offset() : 0);
    if (is_in_window && static_cast<int64_t>(message.data().size()) <= request.data_size()) {
      std::copy(message.data().begin(), message.data().end(), data);
    }
    absl::Status status = runner_->Send(request);
    if (!status.ok() && !absl::IsUnavailable(status)) EndWith(status);
    absl::StatusOr<runner::Response> response = runner_->Receive(absl::InfiniteDuration());
    if (!response.ok()) EndWith(response.status());
    if (is_in_window && request.operation().has_read() && response->result().code() == 0) {
      answer.set_data(data, static_cast<size_t>(request.data_size()));
    }
    *answer.mutable_response() = *std::move(response);
  }

  [[noreturn]] void EndWith(const absl::Status& status) {
    runner_->ReadLog();
    attached::FromDevice message;
    attached::FromDevice::End& end = *message.mutable_end();
    end.set_exit_code(1);
    if (const std::optional<ExitStatus>& exit = runner_->exit_status(); exit.has_value()) {
      end.set_exit_code(exit->exit_code);
      end.set_signal(exit->signal);
    }
    end.set_is_out_of_memory(absl::IsResourceExhausted(status));
    *end.mutable_place() = Place();
    Send(message);
    _exit(0);
  }

  attached::FromDevice::Place Place() const {
    attached::FromDevice::Place place;
    place.set_position(runner_->window()->status().position);
    place.set_program(runner_->window()->status().program);
    return place;
  }

  void Send(const attached::FromDevice& message) {
    absl::MutexLock lock(&out_mutex_);
    // Where the host is gone, whoever reads from it ends this process.
    WriteFrame(connection_.out.get(), message, absl::InfiniteDuration()).IgnoreError();
  }

  const Connection connection_;
  PinnedBlobs& pinned_;
  const std::unique_ptr<RunnerProcess> runner_;
  ComingBlobs coming_;
  absl::flat_hash_set<Digest> needed_;  // Of the thread that serves requests.
  absl::Mutex out_mutex_;
  absl::Mutex mutex_;
  std::deque<attached::ToDevice> waiting_ ABSL_GUARDED_BY(mutex_);
};

struct AttachedArguments {
  RunnerOptions runner;
  int64_t cache_quota_bytes = 0;
};

absl::StatusOr<AttachedArguments> ParseArguments(int argc, char** argv) {
  AttachedArguments arguments;
  int64_t memory_bytes = 0;
  if (argc != 6 || !absl::SimpleAtoi(argv[4], &memory_bytes) ||
      !absl::SimpleAtoi(argv[5], &arguments.cache_quota_bytes)) {
    return absl::InvalidArgumentError("this is started by an agent, not by hand");
  }
  arguments.runner.cache_folder = CacheFolder(argv[1]);
  arguments.runner.log_level = argv[2];
  arguments.runner.require_confinement = absl::string_view(argv[3]) == kConfinedWholly;
  if (memory_bytes > 0) arguments.runner.memory_bytes = memory_bytes;
  return arguments;
}

absl::Status Serve(const AttachedArguments& arguments, Connection connection) {
  PinnedBlobs pinned;
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::unique_ptr<BlobStore> store,
      OpenAgentCache(arguments.runner.cache_folder, arguments.cache_quota_bytes, pinned));
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<RunnerProcess> runner,
                           RunnerProcess::Start(arguments.runner));
  SLIPWAY_RETURN_IF_ERROR(Greet(connection));
  AttachedRunner(std::move(connection), *store, pinned, std::move(runner)).Run();
}

absl::StatusOr<v1::DeviceDescription> DescribeFor(const std::string& cache_folder,
                                                  bool require_confinement) {
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(cache_folder));
  return DescribeThisMachine(cache_folder, /*accelerator_folder=*/"", require_confinement);
}

absl::Status Describe(int argc, char** argv, const Connection& connection) {
  if (argc != 3) return absl::InvalidArgumentError("this is started by an agent, not by hand");
  attached::Description description;
  absl::StatusOr<v1::DeviceDescription> device =
      DescribeFor(CacheFolder(argv[1]), absl::string_view(argv[2]) == kConfinedWholly);
  if (device.ok()) {
    *description.mutable_device() = *std::move(device);
  } else {
    description.set_code(static_cast<int32_t>(device.status().code()));
    description.set_message(std::string(device.status().message()));
  }
  SLIPWAY_RETURN_IF_ERROR(Greet(connection));
  return WriteFrame(connection.out.get(), description, absl::InfiniteDuration());
}

void SetUp() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes is then an error like a full disk.
  umask(S_IRWXG | S_IRWXO);
  InitLog("slipway-agent attached", LogLevel::kWarning);
}

// The last line is what the host's people are told.
int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace

int AttachedMain(int argc, char** argv) {
  SetUp();
  absl::StatusOr<Connection> connection = TakeStandardStreams();
  if (!connection.ok()) return ExitCode(connection.status());
  const absl::StatusOr<AttachedArguments> arguments = ParseArguments(argc, argv);
  if (!arguments.ok()) return ExitCode(arguments.status());
  return ExitCode(Serve(*arguments, *std::move(connection)));
}

int DescribeMain(int argc, char** argv) {
  SetUp();
  const absl::StatusOr<Connection> connection = TakeStandardStreams();
  return ExitCode(connection.ok() ? Describe(argc, argv, *connection) : connection.status());
}

}  // namespace slipway
