#include "core/rpc/join_door.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_file.h"
#include "core/rpc/join_frame.h"
#include "core/rpc/tls_stream.h"

namespace slipway {
namespace {

class Door final : public JoinDoor {
 public:
  Door(JoinDoorOptions options, Handler handler, UniqueFd asked)
      : options_(std::move(options)), handler_(std::move(handler)), asked_(std::move(asked)) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Door() override {
    {
      absl::MutexLock lock(&mutex_);
      shall_stop_ = true;
    }
    Ask();
    thread_.join();
  }

  void Take(UniqueFd connection, std::string peer) override {
    {
      absl::MutexLock lock(&mutex_);
      arrived_.push_back({std::move(connection), std::move(peer)});
      if (static_cast<int>(arrived_.size()) > options_.most) arrived_.pop_front();
    }
    Ask();
  }

 private:
  enum class Stage { kHandshake, kLength, kRequest, kAnswer };

  struct Arrival {
    UniqueFd connection;
    std::string peer;
  };
  struct Visit {
    TlsStream stream;
    std::string peer;
    absl::Duration until;
    Stage stage = Stage::kHandshake;
    TlsProgress waits_for = TlsProgress::kWantsRead;
    std::string bytes = "";  // Of the length, then of the request, then of the answer.
    size_t size = 0;         // Of the request.
  };

  void Ask() {
    const uint64_t one = 1;
    // Cannot fail: the counter is far from full.
    (void)!write(asked_.get(), &one, sizeof(one));
  }

  void Run() {
    std::vector<pollfd> polled;
    for (;;) {
      polled = {{.fd = asked_.get(), .events = POLLIN, .revents = 0}};
      for (const Visit& visit : visits_) {
        const short event = visit.waits_for == TlsProgress::kWantsWrite ? POLLOUT : POLLIN;
        polled.push_back({.fd = visit.stream.fd(), .events = event, .revents = 0});
      }
      poll(polled.data(), polled.size(), WaitMillis());
      size_t at = 1;
      for (auto visit = visits_.begin(); visit != visits_.end(); ++at) {
        const auto here = visit++;
        if (polled[at].revents != 0 && Advance(*here) == TlsProgress::kOver) visits_.erase(here);
      }
      while (!visits_.empty() && visits_.front().until <= clock_.Monotonic()) visits_.pop_front();
      if (!TakeArrived()) return;
    }
  }

  int WaitMillis() const {
    if (visits_.empty()) return -1;
    const absl::Duration wait = visits_.front().until - clock_.Monotonic();
    return static_cast<int>(absl::ToInt64Milliseconds(std::max(wait, absl::ZeroDuration()))) + 1;
  }

  // False when all is over.
  bool TakeArrived() {
    uint64_t times = 0;
    (void)!read(asked_.get(), &times, sizeof(times));
    for (;;) {
      Arrival arrival;
      {
        absl::MutexLock lock(&mutex_);
        if (shall_stop_) return false;
        if (arrived_.empty()) return true;
        arrival = std::move(arrived_.front());
        arrived_.pop_front();
      }
      absl::StatusOr<TlsStream> stream = ServeAt(std::move(arrival.connection));
      if (!stream.ok()) {
        Log(LogLevel::kError, "nobody can join", {{"why", stream.status().message()}});
        continue;
      }
      visits_.push_back({.stream = *std::move(stream),
                         .peer = std::move(arrival.peer),
                         .until = clock_.Monotonic() + options_.patience});
      if (static_cast<int>(visits_.size()) > options_.most) visits_.pop_front();
      if (Advance(visits_.back()) == TlsProgress::kOver) visits_.pop_back();
    }
  }

  absl::StatusOr<TlsStream> ServeAt(UniqueFd fd) {
    struct stat now = {};
    if (stat(options_.identity_file.c_str(), &now) != 0) {
      return ErrnoStatus(errno, "cannot look at the server's identity");
    }
    // It is replaced when it is renewed.
    const bool is_same = now.st_ino == read_.st_ino && now.st_mtim.tv_sec == read_.st_mtim.tv_sec &&
                         now.st_mtim.tv_nsec == read_.st_mtim.tv_nsec;
    if (context_ == nullptr || !is_same) {
      SLIPWAY_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(options_.identity_file));
      SLIPWAY_ASSIGN_OR_RETURN(context_, TlsStream::ServerContext(identity));
      read_ = now;
    }
    return TlsStream::Serve(std::move(fd), context_);
  }

  // As far as it goes now.
  TlsProgress Advance(Visit& visit) {
    for (;;) {
      const TlsProgress progress = Step(visit);
      visit.waits_for = progress;
      if (progress != TlsProgress::kDone) return progress;
      if (!BeginNext(visit)) {
        visit.stream.Close();
        return TlsProgress::kOver;
      }
    }
  }

  static TlsProgress Step(Visit& visit) {
    switch (visit.stage) {
      case Stage::kHandshake:
        return visit.stream.Handshake();
      case Stage::kLength:
        return visit.stream.Read(visit.bytes, kJoinLengthBytes);
      case Stage::kRequest:
        return visit.stream.Read(visit.bytes, visit.size);
      case Stage::kAnswer:
        return visit.stream.Write(visit.bytes);
    }
    return TlsProgress::kOver;
  }

  // False when there is nothing more to be done.
  bool BeginNext(Visit& visit) {
    switch (visit.stage) {
      case Stage::kHandshake:
        visit.stage = Stage::kLength;
        return true;
      case Stage::kLength:
        visit.size = JoinLength(visit.bytes);
        visit.bytes.clear();
        visit.stage = Stage::kRequest;
        return visit.size <= kMaxJoinBytes;
      case Stage::kRequest:
        visit.bytes = JoinFrame(visit.bytes.empty() ? "" : handler_(visit.bytes, visit.peer));
        visit.stage = Stage::kAnswer;
        return true;
      case Stage::kAnswer:
        return false;
    }
    return false;
  }

  const JoinDoorOptions options_;
  const Handler handler_;
  const SystemClock clock_;
  const UniqueFd asked_;

  absl::Mutex mutex_;
  bool shall_stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Arrival> arrived_ ABSL_GUARDED_BY(mutex_);

  // The thread's alone.
  TlsStream::Context context_;  // Of the identity file as it was when `read_`.
  struct stat read_ = {};
  std::list<Visit> visits_;  // The one that came first in front.
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<JoinDoor>> JoinDoor::Open(JoinDoorOptions options, Handler handler) {
  UniqueFd asked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!asked.is_open()) return ErrnoStatus(errno, "cannot wait for events");
  return std::make_unique<Door>(std::move(options), std::move(handler), std::move(asked));
}

}  // namespace slipway
