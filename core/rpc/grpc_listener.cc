#include "core/rpc/grpc_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
#include <atomic>
#include <deque>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/given_identity.h"
#include "core/rpc/call_flood.h"
#include "core/rpc/client_hello.h"
#include "core/rpc/grpc_call_counts.h"
#include "core/rpc/held_connection.h"
#include "core/rpc/listen_socket.h"
#include "core/rpc/peer_address.h"
#include "core/rpc/proxy_header.h"
#include "core/rpc/unproven_connections.h"

namespace slipway {
namespace {

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

// Taken from one socket before others have their turn.
constexpr int kAcceptedAtATime = 64;
// After accepting failed for want of descriptors or memory.
constexpr absl::Duration kPauseAfterFailure = absl::Milliseconds(100);
// Connections that were ended and that gRPC has not closed yet: while there are more, it is behind, and gets no new ones.
constexpr size_t kMostEnding = 64;
// Between looks whether it has caught up.
constexpr absl::Duration kCatchUp = absl::Milliseconds(2);
// As many are not worth looking which of them are closed.
constexpr size_t kFewConnections = 64;
// What events are told of: that something is asked of the thread, sockets that listen, and then connections.
constexpr uint64_t kAskedId = 0;
constexpr uint64_t kFirstListenId = 1;
// Between looks how many calls are open or were in vain; and for so many more, whose they are.
constexpr absl::Duration kLookAtCalls = absl::Milliseconds(50);
constexpr int64_t kFewCalls = 500;
// Until whoever is refused by a word has it.
constexpr absl::Duration kLastAnswer = absl::Milliseconds(100);
// Refusals are told as one line for as long.
constexpr absl::Duration kTellEvery = absl::Minutes(1);

// Who has shown this certificate; empty: nobody who has an identity.
std::string IdentityOf(const std::string& certificate) {
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(certificate);
  if (!facts.ok()) return "";
  for (const std::string& uri : facts->uris) {
    if (std::optional<std::string> id = RecordIdOfUri(uri)) return *std::move(id);
  }
  return "";
}

// A connection that has not sent yet what is waited for.
struct SilentConnection {
  uint64_t id = 0;
  UniqueFd fd;
  std::string peer;
  std::string address;  // Of its other end: where it comes from, or the proxy.
  std::string origin;   // As GrpcPeerOf tells.
  bool is_proxied = false;
  bool wants_header = false;  // A proxy has not said yet where it comes from.
  int listens = -1;           // The socket that it was accepted from.
  bool is_by_other_name = false;
  absl::Duration until;
};

// A connection, and where it comes from by what a proxy says.
struct ProxiedConnection {
  HeldConnection connection;
  std::string origin;
};

// A connection that is ended then.
struct LeavingConnection {
  HeldConnection connection;
  absl::Duration until;
};

class RunningListener final : public GrpcListener {
 public:
  RunningListener(const ListenerOptions& options, ListenSocket socket, ListenSocket proxied,
                  std::unique_ptr<Acceptor> acceptor, std::unique_ptr<Acceptor> by_other_names)
      : options_(options),
        socket_(std::move(socket)),
        proxied_(std::move(proxied)),
        acceptor_(std::move(acceptor)),
        by_other_names_(std::move(by_other_names)),
        unproven_(options.most_unproven, options.proof),
        // All that are held fit in, and as many that have closed.
        proven_({.all = 2 * options.connections.all, .each_peer = options.most_of_identity},
                IsOpen),
        table_(options.connections, IsOpen),
        flood_(options.flood) {}

  ~RunningListener() override { RunningListener::Stop(); }

  void Stop() override {
    if (!thread_.joinable()) return;
    {
      absl::MutexLock lock(&mutex_);
      shall_stop_ = true;
    }
    Ask();
    thread_.join();
  }

  absl::Status Prepare() {
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    asked_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!epoll_.is_open() || !asked_.is_open()) return ErrnoStatus(errno, "cannot wait for events");
    SLIPWAY_RETURN_IF_ERROR(Watch(asked_.get(), kAskedId));
    next_id_ = kFirstListenId;
    for (const ListenSocket* const each : {&socket_, &proxied_}) {
      for (const UniqueFd& fd : each->fds) SLIPWAY_RETURN_IF_ERROR(Watch(fd.get(), next_id_++));
    }
    return absl::OkStatus();
  }

  void Start() override {
    if (options_.on_flood != nullptr) counted_servers_ = CountedServers();
    thread_ = std::thread([this] { Run(); });
  }

  const std::string& address() const override { return socket_.address; }

  const std::string& proxied_address() const override { return proxied_.address; }

  std::string OriginOf(absl::string_view grpc_peer) const override {
    if (!proxied_.fds.empty()) {
      const std::string address = PeerAddressOf(grpc_peer);
      absl::MutexLock lock(&mutex_);
      const auto found = origins_.find(address);
      if (found != origins_.end()) return found->second.origin;
    }
    return std::string(grpc_peer);
  }

  int64_t accepted() const override { return accepted_; }

  ListenerCounts counts() override {
    ListenerCounts counts = {.accepted = accepted_, .held = 0, .refused = {}};
    for (size_t i = 0; i < refused_.size(); ++i) counts.refused[i] = refused_[i];
    absl::MutexLock lock(&mutex_);
    table_.ForgetClosed();
    counts.held = table_.size();
    return counts;
  }

  void Knock() const override {
    for (const UniqueFd& listens : socket_.fds) {
      // To any address means to this machine.
      sockaddr_storage name = {};
      socklen_t size = sizeof(name);
      if (getsockname(listens.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) continue;
      const UniqueFd fd(socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      // It counts when it is accepted, also after its end.
      if (fd.is_open()) (void)!connect(fd.get(), reinterpret_cast<sockaddr*>(&name), size);
    }
  }

  absl::Status LetInCall(absl::string_view grpc_peer, absl::string_view identity) override {
    if (!options_.is_tls) return absl::OkStatus();
    const std::string address = PeerAddressOf(grpc_peer);
    {
      absl::MutexLock lock(&mutex_);
      std::optional<HeldConnection> connection = unproven_.Prove(address);
      if (!connection.has_value()) return absl::OkStatus();
      connection->peer = std::string(identity);
      if (proven_.Take(*connection) == ConnectionTable::Answer::kTaken) return absl::OkStatus();
      leaving_.push_back({*std::move(connection), clock_.Monotonic() + kLastAnswer});
    }
    Ask();
    return absl::ResourceExhaustedError(
        absl::StrCat("you have ", options_.most_of_identity,
                     " connections to this server, as many as one identity may: close some"));
  }

  bool IsBanned(absl::string_view identity) override {
    absl::MutexLock lock(&mutex_);
    const auto ban = bans_.find(identity);
    return ban != bans_.end() && clock_.Monotonic() < ban->second;
  }

  void EndUnwelcome(absl::Duration after) override {
    {
      absl::MutexLock lock(&mutex_);
      look_at_ = std::min(look_at_, clock_.Monotonic() + after);
    }
    Ask();
  }

 private:
  using SilentList = std::list<SilentConnection>;

  // Wakes the thread.
  void Ask() {
    const uint64_t one = 1;
    // Cannot fail: the counter is far from full.
    (void)!write(asked_.get(), &one, sizeof(one));
  }

  absl::Status Watch(int fd, uint64_t id) {
    epoll_event event = {};
    event.events = EPOLLIN | EPOLLRDHUP;
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
        if (id == kAskedId) {
          uint64_t times = 0;
          (void)!read(asked_.get(), &times, sizeof(times));
          absl::MutexLock lock(&mutex_);
          if (shall_stop_) return;
        } else if (const size_t at = id - kFirstListenId; at < socket_.fds.size()) {
          Accept(socket_.fds[at].get(), /*is_proxied=*/false);
        } else if (at < socket_.fds.size() + proxied_.fds.size()) {
          Accept(proxied_.fds[at - socket_.fds.size()].get(), /*is_proxied=*/true);
        } else if (const auto silent = silent_by_id_.find(id); silent != silent_by_id_.end()) {
          // Others may have been closed since, for one that was accepted before them in this round.
          const bool is_over = (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
          Heard(silent->second, is_over);
        }
      }
      CloseSilent();
      EndOverdue();
      LookAtCalls();
      LetInWaiting();
    }
  }

  int WaitMillis() {
    absl::Duration until = silent_.empty() ? absl::InfiniteDuration() : silent_.front().until;
    {
      absl::MutexLock lock(&mutex_);
      until = std::min({until, unproven_.NextEnd(), look_at_});
      if (!leaving_.empty()) until = std::min(until, leaving_.front().until);
    }
    if (LooksAtCalls()) until = std::min(until, look_at_calls_);
    if (!waiting_.empty()) until = std::min(until, clock_.Monotonic() + kCatchUp);
    if (until == absl::InfiniteDuration()) return -1;
    const absl::Duration wait = std::max(until - clock_.Monotonic(), absl::ZeroDuration());
    return static_cast<int>(absl::ToInt64Milliseconds(wait)) + 1;
  }

  void Accept(int listens, bool is_proxied) {
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
      ++accepted_;
      if (is_proxied && !absl::c_linear_search(options_.proxies, MachineOf(name))) {
        Refuse(ListenerRefusal::kNoProxy, "a connection is refused",
               "it comes from none of the proxies, where these connect");
        continue;
      }
      const int on = 1;
      if (name.ss_family != AF_UNIX) {
        setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      }
      const std::string peer = CountedFor(name);
      // Those of this machine are not told apart before they have greeted.
      if (!peer.empty() && IsBanned(peer)) {
        Count(ListenerRefusal::kBanned);
        continue;
      }
      const uint64_t id = next_id_++;
      if (!Watch(fd.get(), id).ok()) continue;
      silent_.push_back({.id = id,
                         .fd = std::move(fd),
                         .peer = peer,
                         .address = PeerAddress(name),
                         .origin = GrpcPeerOf(name),
                         .is_proxied = is_proxied,
                         .wants_header = is_proxied,
                         .listens = listens,
                         .until = clock_.Monotonic() + options_.silence});
      silent_by_id_[id] = std::prev(silent_.end());
      ++silent_of_peer_[silent_.back().peer];
      if (static_cast<int>(silent_.size()) > options_.most_silent) Forget(FirstOfMost());
    }
  }

  // Of the peer that has most silent ones, the one that came first. REQUIRES: there is one.
  SilentList::iterator FirstOfMost() {
    const auto most = std::max_element(
        silent_of_peer_.begin(), silent_of_peer_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    return std::find_if(silent_.begin(), silent_.end(), [most](const SilentConnection& silent) {
      return silent.peer == most->first;
    });
  }

  // Something was sent, or the other side has closed the connection (`is_over`).
  void Heard(SilentList::iterator silent, bool is_over) {
    if (!options_.is_tls) return LetIn(silent);
    std::array<char, kMaxClientHelloBytes> bytes;
    const ssize_t size = recv(silent->fd.get(), bytes.data(), bytes.size(), MSG_PEEK);
    const absl::string_view seen(bytes.data(), size > 0 ? static_cast<size_t>(size) : 0);
    if (silent->wants_header) return HeardHeader(silent, seen, is_over);
    const HelloView hello = ReadClientHello(seen);
    switch (hello.kind) {
      case HelloKind::kIncomplete:
        if (is_over || size <= 0) return Forget(silent);
        return WaitFor(*silent, std::min(hello.wanted, bytes.size()));
      case HelloKind::kRefused:
        Refuse(ListenerRefusal::kNoTls, "a connection is refused",
               "it does not begin as TLS 1.3 for gRPC does");
        return Forget(silent);
      case HelloKind::kCall:
        StopWatching(*silent);
        silent->is_by_other_name = hello.server_name != kServerCertificateName;
        waiting_.push_back(silent->id);
        return;
      case HelloKind::kJoin:
        StopWatching(*silent);
        if (options_.on_join != nullptr) {
          options_.on_join(std::move(silent->fd), std::move(silent->origin));
        }
        return Forget(silent);
    }
  }

  // The first bytes of one that a proxy passes on.
  void HeardHeader(SilentList::iterator silent, absl::string_view seen, bool is_over) {
    const ProxyHeaderView header = ReadProxyHeader(seen);
    switch (header.kind) {
      case ProxyHeaderKind::kIncomplete:
        if (is_over || seen.empty()) return Forget(silent);
        return WaitFor(*silent, header.wanted);
      case ProxyHeaderKind::kRefused:
        Refuse(ListenerRefusal::kNoProxy, "a connection is refused",
               "it does not begin as a proxy of version 2 does");
        return Forget(silent);
      case ProxyHeaderKind::kWhole: {
        std::array<char, kMaxProxyHeaderBytes> taken;
        // It is there; what follows stays.
        (void)!recv(silent->fd.get(), taken.data(), header.size, 0);
        silent->wants_header = false;
        if (header.source.ss_family != AF_UNSPEC) {
          CountDown(silent->peer);
          silent->peer = CountedFor(header.source);
          silent->origin = GrpcPeerOf(header.source);
          ++silent_of_peer_[silent->peer];
        }
        if (!silent->peer.empty() && IsBanned(silent->peer)) {
          Count(ListenerRefusal::kBanned);
          return Forget(silent);
        }
        return WaitFor(*silent, 1);
      }
    }
  }

  // It is not told of again before there are as many bytes.
  static void WaitFor(const SilentConnection& silent, size_t bytes) {
    const int wanted = static_cast<int>(bytes);
    setsockopt(silent.fd.get(), SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof(wanted));
  }

  void StopWatching(const SilentConnection& silent) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, silent.fd.get(), nullptr);
    if (options_.is_tls) WaitFor(silent, 1);
  }

  // What was sent is for gRPC to read.
  void LetIn(SilentList::iterator silent) {
    const int fd = silent->fd.get();
    StopWatching(*silent);
    if (options_.may_take != nullptr && !options_.may_take()) {
      Refuse(ListenerRefusal::kNoMemory, "connections are refused", "there is no memory for more");
      return Forget(silent);
    }
    const HeldConnection held = {.fd = fd, .socket = SocketNumber(fd), .peer = silent->peer};
    switch (Take(held)) {
      case ConnectionTable::Answer::kFull:
        Refuse(
            ListenerRefusal::kFull, "connections are refused",
            absl::StrCat(options_.connections.all, " are open, as many as are let in at a time"));
        break;
      case ConnectionTable::Answer::kFullForPeer:
        Refuse(ListenerRefusal::kFullForAddress, "connections are refused",
               absl::StrCat(options_.connections.each_peer,
                            " of one address are open, as many as are let in"));
        break;
      case ConnectionTable::Answer::kTaken: {
        if (options_.is_tls) AddUnproven(silent->address, held);
        NoteOrigin(*silent, held);
        Acceptor::NewConnectionParameters connection;
        connection.listener_fd = silent->listens;
        connection.fd = silent->fd.release();
        const bool is_other = silent->is_by_other_name && by_other_names_ != nullptr;
        (is_other ? by_other_names_ : acceptor_)->HandleNewConnection(&connection);
        break;
      }
    }
    Forget(silent);
  }

  // Those that wait, the first one first, as long as gRPC keeps up.
  void LetInWaiting() {
    while (!waiting_.empty()) {
      const auto silent = silent_by_id_.find(waiting_.front());
      if (silent != silent_by_id_.end()) {
        if (IsGrpcBehind()) return;
        LetIn(silent->second);
      }
      waiting_.pop_front();
    }
  }

  bool IsGrpcBehind() {
    if (ending_.size() < kMostEnding) return false;
    const auto is_closed = [](const HeldConnection& each) {
      return SocketNumber(each.fd) != each.socket;
    };
    ending_.erase(std::remove_if(ending_.begin(), ending_.end(), is_closed), ending_.end());
    return ending_.size() >= kMostEnding;
  }

  void EndHeld(const HeldConnection& connection) {
    EndConnection(connection);
    ending_.push_back(connection);
  }

  void AddUnproven(const std::string& address, const HeldConnection& held) {
    std::optional<HeldConnection> first;
    {
      absl::MutexLock lock(&mutex_);
      first = unproven_.Add(address, held, clock_.Monotonic());
    }
    if (!first.has_value()) return;
    Refuse(ListenerRefusal::kUnproven, "connections are ended early",
           absl::StrCat(options_.most_unproven, " have proven nothing yet, as many as may"));
    EndHeld(*first);
  }

  // Whoever had the address before has gone.
  void NoteOrigin(const SilentConnection& silent, const HeldConnection& held) {
    if (proxied_.fds.empty()) return;
    absl::MutexLock lock(&mutex_);
    origins_.erase(silent.address);
    if (!silent.is_proxied) return;
    origins_[silent.address] = {.connection = held, .origin = silent.origin};
    if (origins_.size() < 2 * origins_open_) return;
    absl::erase_if(origins_, [](const auto& each) {
      const HeldConnection& connection = each.second.connection;
      return SocketNumber(connection.fd) != connection.socket;
    });
    origins_open_ = std::max<size_t>(origins_.size(), kFewConnections);
  }

  void EndOverdue() {
    const absl::Duration now = clock_.Monotonic();
    std::vector<HeldConnection> over;
    std::vector<HeldConnection> proven;
    {
      absl::MutexLock lock(&mutex_);
      over = unproven_.TakeOverdue(now);
      for (; !leaving_.empty() && leaving_.front().until <= now; leaving_.pop_front()) {
        over.push_back(leaving_.front().connection);
      }
      if (look_at_ <= now) {
        look_at_ = absl::InfiniteDuration();
        proven_.ForgetClosed();
        proven = proven_.connections();
      }
    }
    for (const HeldConnection& connection : over) EndHeld(connection);
    if (options_.may_stay == nullptr) return;
    for (const HeldConnection& connection : proven) {
      if (!options_.may_stay(connection.peer)) EndHeld(connection);
    }
  }

  ConnectionTable::Answer Take(const HeldConnection& held) {
    absl::MutexLock lock(&mutex_);
    return table_.Take(held);
  }

  std::vector<HeldConnection> Held() {
    absl::MutexLock lock(&mutex_);
    table_.ForgetClosed();
    return table_.connections();
  }

  bool LooksAtCalls() const {
    if (!options_.is_tls || options_.on_flood == nullptr) return false;
    absl::MutexLock lock(&mutex_);
    return table_.size() > 0;
  }

  // Ends the connections of those who flood the server with calls.
  void LookAtCalls() {
    const absl::Duration now = clock_.Monotonic();
    if (!LooksAtCalls() || now < look_at_calls_) return;
    look_at_calls_ = now + kLookAtCalls;
    const int64_t vain = CallsInVain(counted_servers_);
    seen_vain_ = std::min(seen_vain_, vain);
    if (vain - seen_vain_ < kFewCalls) return;
    seen_vain_ = vain;
    absl::flat_hash_map<std::string, HeldConnection> held;
    for (const HeldConnection& connection : Held()) {
      sockaddr_storage name = {};
      socklen_t size = sizeof(name);
      if (getpeername(connection.fd, reinterpret_cast<sockaddr*>(&name), &size) == 0) {
        held[PeerAddress(name)] = connection;
      }
    }
    std::vector<ConnectionCalls> calls;
    for (const SocketCalls& socket : ReadSocketCalls()) {
      const auto found = held.find(PeerAddressOf(socket.address));
      // Other servers of this process have connections, too.
      if (found == held.end()) continue;
      calls.push_back(
          {.connection = socket.address,
           .caller = socket.certificate.empty() ? found->second.peer : socket.certificate,
           .open = socket.open,
           .broken_off = socket.broken_off});
    }
    for (const std::string& caller : flood_.Look(now, calls)) {
      std::string from;
      for (const ConnectionCalls& each : calls) {
        if (each.caller != caller) continue;
        from = each.connection;
        EndHeld(held[PeerAddressOf(from)]);
        Count(ListenerRefusal::kFlood);
      }
      const std::string identity = IdentityOf(caller);
      // Who was ended a moment ago is counted until gRPC has found out.
      if (!Ban(identity.empty() ? caller : identity)) continue;
      options_.on_flood(identity, OriginOf(from));
    }
  }

  // Whether he was not banned already.
  bool Ban(const std::string& caller) {
    const absl::Duration now = clock_.Monotonic();
    absl::MutexLock lock(&mutex_);
    absl::erase_if(bans_, [now](const auto& ban) { return ban.second <= now; });
    return bans_.insert_or_assign(caller, now + options_.flood_ban).second;
  }

  void CloseSilent() {
    const absl::Duration now = clock_.Monotonic();
    for (; !silent_.empty() && silent_.front().until <= now; Forget(silent_.begin())) {
      Count(ListenerRefusal::kSilent);
    }
  }

  // Closes it, unless it was let in; closing takes it from those waited for as well.
  void Forget(SilentList::iterator silent) {
    silent_by_id_.erase(silent->id);
    CountDown(silent->peer);
    silent_.erase(silent);
  }

  void CountDown(const std::string& peer) {
    const auto of_peer = silent_of_peer_.find(peer);
    if (--of_peer->second == 0) silent_of_peer_.erase(of_peer);
  }

  void Count(ListenerRefusal why) { ++refused_[static_cast<size_t>(why)]; }

  void Refuse(ListenerRefusal reason, absl::string_view what, absl::string_view why) {
    Count(reason);
    Tell(what, why);
  }

  void Tell(absl::string_view what, absl::string_view why) {
    const absl::Duration now = clock_.Monotonic();
    if (now < quiet_until_) return;
    quiet_until_ = now + kTellEvery;
    Log(LogLevel::kWarning, what, {{"address", socket_.address}, {"why", why}});
  }

  const ListenerOptions options_;
  const ListenSocket socket_;
  const ListenSocket proxied_;  // Where proxies connect; of no descriptors where there are none.
  const std::unique_ptr<Acceptor> acceptor_;
  const std::unique_ptr<Acceptor> by_other_names_;  // Null: there are none.
  const SystemClock clock_;
  UniqueFd epoll_;
  UniqueFd asked_;
  std::atomic<int64_t> accepted_ = 0;
  std::array<std::atomic<int64_t>, kListenerRefusals> refused_ = {};  // By ListenerRefusal.

  mutable absl::Mutex mutex_;
  UnprovenConnections unproven_ ABSL_GUARDED_BY(mutex_);
  bool shall_stop_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration look_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  ConnectionTable proven_ ABSL_GUARDED_BY(mutex_);  // By identity in place of the peer.
  std::deque<LeavingConnection> leaving_
      ABSL_GUARDED_BY(mutex_);  // The one that ends first in front.
  // Identities and peers that are not let in, and until when.
  absl::flat_hash_map<std::string, absl::Duration> bans_ ABSL_GUARDED_BY(mutex_);
  // By the address of the proxy's end. Closed ones among them, looked at in the same way.
  absl::flat_hash_map<std::string, ProxiedConnection> origins_ ABSL_GUARDED_BY(mutex_);
  size_t origins_open_ ABSL_GUARDED_BY(mutex_) = kFewConnections;

  ConnectionTable table_ ABSL_GUARDED_BY(mutex_);  // Those let in.

  // Used by the thread alone.
  CallFlood flood_;
  absl::Duration look_at_calls_ = -absl::InfiniteDuration();
  std::vector<int64_t> counted_servers_;  // Since Start: ours is among them.
  int64_t seen_vain_ = 0;  // CallsInVain, when it was last looked whose they are, or fewer since.
  SilentList silent_;      // The one that came first in front.
  absl::flat_hash_map<uint64_t, SilentList::iterator> silent_by_id_;
  absl::flat_hash_map<std::string, int> silent_of_peer_;
  std::deque<uint64_t> waiting_;  // Ids of silent ones that have greeted; some may be gone.
  std::vector<HeldConnection> ending_;
  uint64_t next_id_ = 0;  // Unlike a descriptor's number, never used again.
  absl::Duration quiet_until_ = -absl::InfiniteDuration();

  std::thread thread_;
};

}  // namespace

ListenerOptions ListenerOptionsFor(int descriptor_limit, int most) {
  const int all = std::min(descriptor_limit / 4 * 3, most);
  return {.connections = {.all = all, .each_peer = std::max(all / 4, 1)},
          .most_silent = std::clamp(descriptor_limit / 8, 1, 1024),
          .most_unproven = std::clamp(all / 4, 1, 1'000),
          .most_of_identity = std::max(all / 4 * 3, 1)};
}

absl::StatusOr<std::unique_ptr<GrpcListener>> GrpcListener::Listen(
    const std::string& address, const ListenerOptions& options, grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials,
    std::shared_ptr<grpc::ServerCredentials> by_other_names) {
  SLIPWAY_ASSIGN_OR_RETURN(ListenSocket socket, ListenAt(address));
  ListenSocket proxied;
  if (!options.proxied_address.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(proxied, ListenAt(options.proxied_address));
  }
  const auto acceptor = [&builder](std::shared_ptr<grpc::ServerCredentials> of) {
    return builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, std::move(of));
  };
  auto listener = std::make_unique<RunningListener>(
      options, std::move(socket), std::move(proxied), acceptor(std::move(credentials)),
      by_other_names == nullptr ? nullptr : acceptor(std::move(by_other_names)));
  SLIPWAY_RETURN_IF_ERROR(listener->Prepare());
  return std::unique_ptr<GrpcListener>(std::move(listener));
}

}  // namespace slipway
