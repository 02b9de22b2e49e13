#include "core/rpc/grpc_listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/rpc/listen_socket.h"

namespace slipway {
namespace {

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

// Taken from one socket before others have their turn.
constexpr int kAcceptedAtATime = 64;
// After accepting failed for want of descriptors or memory.
constexpr absl::Duration kPauseAfterFailure = absl::Milliseconds(100);
// What events are told of: the order to stop, sockets that listen, and then connections.
constexpr uint64_t kStopId = 0;
constexpr uint64_t kFirstListenId = 1;
// Refusals are told as one line for as long.
constexpr absl::Duration kTellEvery = absl::Minutes(1);

// Whom a connection counts for: its machine, or what IPv6 gives to one network at least. Those of this machine are not told
// apart.
std::string PeerOf(const sockaddr_storage& name) {
  if (name.ss_family == AF_INET) {
    const in_addr address = reinterpret_cast<const sockaddr_in&>(name).sin_addr;
    if ((ntohl(address.s_addr) >> 24) == IN_LOOPBACKNET) return "";
    return std::string(reinterpret_cast<const char*>(&address), sizeof(address));
  }
  if (name.ss_family != AF_INET6) return "";
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(name).sin6_addr;
  const char* const bytes = reinterpret_cast<const char*>(&address);
  if (IN6_IS_ADDR_LOOPBACK(&address)) return "";
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return std::string(bytes, 8);
  if (static_cast<unsigned char>(bytes[12]) == IN_LOOPBACKNET) return "";
  return std::string(bytes + 12, 4);
}

uint64_t SocketNumber(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) ? info.st_ino : 0;
}

// A connection that has sent nothing yet.
struct SilentConnection {
  uint64_t id = 0;
  UniqueFd fd;
  std::string peer;
  int listens = -1;  // The socket that it was accepted from.
  absl::Duration until;
};

class RunningListener final : public GrpcListener {
 public:
  RunningListener(const ListenerOptions& options, ListenSocket socket,
                  std::unique_ptr<Acceptor> acceptor)
      : options_(options),
        socket_(std::move(socket)),
        acceptor_(std::move(acceptor)),
        table_(options.connections, [](const HeldConnection& connection) {
          return SocketNumber(connection.fd) == connection.socket;
        }) {}

  ~RunningListener() override {
    if (!thread_.joinable()) return;
    const uint64_t one = 1;
    // Cannot fail: the counter is far from full.
    (void)!write(stop_.get(), &one, sizeof(one));
    thread_.join();
  }

  absl::Status Prepare() {
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    stop_.reset(eventfd(0, EFD_CLOEXEC));
    if (!epoll_.is_open() || !stop_.is_open()) return ErrnoStatus(errno, "cannot wait for events");
    SLIPWAY_RETURN_IF_ERROR(Watch(stop_.get(), kStopId));
    for (size_t i = 0; i < socket_.fds.size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR(Watch(socket_.fds[i].get(), kFirstListenId + i));
    }
    next_id_ = kFirstListenId + socket_.fds.size();
    return absl::OkStatus();
  }

  void Start() override {
    thread_ = std::thread([this] { Run(); });
  }

  const std::string& address() const override { return socket_.address; }

 private:
  using SilentList = std::list<SilentConnection>;

  absl::Status Watch(int fd, uint64_t id) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = id;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, "cannot wait for events");
  }

  void Run() {
    for (;;) {
      std::array<epoll_event, kAcceptedAtATime> events;
      const int count =
          epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), WaitMillis());
      for (int i = 0; i < count; ++i) {
        const uint64_t id = events[i].data.u64;
        if (id == kStopId) return;
        if (id < kFirstListenId + socket_.fds.size()) {
          Accept(socket_.fds[id - kFirstListenId].get());
          continue;
        }
        // It may have been closed since, for one that was accepted before it in this round.
        const auto silent = silent_by_id_.find(id);
        if (silent != silent_by_id_.end()) LetIn(silent->second);
      }
      CloseSilent();
    }
  }

  int WaitMillis() const {
    if (silent_.empty()) return -1;
    const absl::Duration wait = silent_.front().until - clock_.Monotonic();
    return static_cast<int>(absl::ToInt64Milliseconds(std::max(wait, absl::ZeroDuration()))) + 1;
  }

  void Accept(int listens) {
    for (int i = 0; i < kAcceptedAtATime; ++i) {
      sockaddr_storage name = {};
      socklen_t size = sizeof(name);
      UniqueFd fd(accept4(listens, reinterpret_cast<sockaddr*>(&name), &size,
                          SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fd.is_open()) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          Tell("connections cannot be accepted", strerror(errno));
          // They stay in the system's queue meanwhile, and would wake this thread at once.
          absl::SleepFor(kPauseAfterFailure);
        }
        return;
      }
      const int on = 1;
      if (name.ss_family != AF_UNIX) {
        setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      }
      const uint64_t id = next_id_++;
      if (!Watch(fd.get(), id).ok()) continue;
      silent_.push_back({.id = id,
                         .fd = std::move(fd),
                         .peer = PeerOf(name),
                         .listens = listens,
                         .until = clock_.Monotonic() + options_.silence});
      silent_by_id_[id] = std::prev(silent_.end());
      if (static_cast<int>(silent_.size()) > options_.most_silent) Forget(silent_.begin());
    }
  }

  // What was sent, or that the other side has closed, is for gRPC to read.
  void LetIn(SilentList::iterator silent) {
    const int fd = silent->fd.get();
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    switch (table_.Take({.fd = fd, .socket = SocketNumber(fd), .peer = silent->peer})) {
      case ConnectionTable::Answer::kFull:
        Tell("connections are refused",
             absl::StrCat(options_.connections.all, " are open, as many as are let in at a time"));
        break;
      case ConnectionTable::Answer::kFullForPeer:
        Tell("connections are refused",
             absl::StrCat(options_.connections.each_peer,
                          " of one address are open, as many as are let in"));
        break;
      case ConnectionTable::Answer::kTaken: {
        Acceptor::NewConnectionParameters connection;
        connection.listener_fd = silent->listens;
        connection.fd = silent->fd.release();
        acceptor_->HandleNewConnection(&connection);
        break;
      }
    }
    Forget(silent);
  }

  void CloseSilent() {
    const absl::Duration now = clock_.Monotonic();
    while (!silent_.empty() && silent_.front().until <= now) Forget(silent_.begin());
  }

  // Closes it, unless it was let in; closing takes it from those waited for as well.
  void Forget(SilentList::iterator silent) {
    silent_by_id_.erase(silent->id);
    silent_.erase(silent);
  }

  void Tell(absl::string_view what, absl::string_view why) {
    const absl::Duration now = clock_.Monotonic();
    if (now < quiet_until_) return;
    quiet_until_ = now + kTellEvery;
    Log(LogLevel::kWarning, what, {{"address", socket_.address}, {"why", why}});
  }

  const ListenerOptions options_;
  const ListenSocket socket_;
  const std::unique_ptr<Acceptor> acceptor_;
  const SystemClock clock_;
  UniqueFd epoll_;
  UniqueFd stop_;

  // Used by the thread alone.
  ConnectionTable table_;
  SilentList silent_;  // The one that came first in front.
  absl::flat_hash_map<uint64_t, SilentList::iterator> silent_by_id_;
  uint64_t next_id_ = 0;  // Unlike a descriptor's number, never used again.
  absl::Duration quiet_until_ = -absl::InfiniteDuration();

  std::thread thread_;
};

}  // namespace

ListenerOptions ListenerOptionsFor(int descriptor_limit, int most) {
  const int all = std::min(descriptor_limit / 4 * 3, most);
  return {.connections = {.all = all, .each_peer = std::max(all / 4, 1)},
          .most_silent = std::clamp(descriptor_limit / 8, 1, 1024)};
}

absl::StatusOr<std::unique_ptr<GrpcListener>> GrpcListener::Listen(
    const std::string& address, const ListenerOptions& options, grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials) {
  SLIPWAY_ASSIGN_OR_RETURN(ListenSocket socket, ListenAt(address));
  auto listener = std::make_unique<RunningListener>(
      options, std::move(socket),
      builder.experimental().AddExternalConnectionAcceptor(
          grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
          std::move(credentials)));
  SLIPWAY_RETURN_IF_ERROR(listener->Prepare());
  return std::unique_ptr<GrpcListener>(std::move(listener));
}

}  // namespace slipway
