#include "tests/security/strangers.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/identity_file.h"
#include "core/identity/identity_id.h"
#include "core/identity/role.h"
#include "core/rpc/client_hello.h"
#include "core/rpc/join_frame.h"
#include "core/rpc/listen_address.h"
#include "proto/slipway/v1/identity.pb.h"

namespace slipway::testing {
namespace {

// 127.0.0.2 and so on: from one address there are fewer ports than connections may be wanted.
constexpr uint32_t kFirstSource = INADDR_LOOPBACK + 1;
constexpr uint32_t kSources = 16;
// Connections begun, and events heard, before the others have their turn.
constexpr int kAtATime = 64;
// After one that did not come about at once.
constexpr int kPauseMillis = 10;
// Of a connection: what is sent to one who never has enough.
constexpr int64_t kMostBytes = 16 << 20;
constexpr uint32_t kResets = 1'000;

constexpr absl::string_view kNames[] = {
    "idle",        "hello",      "half-hello",      "rapid-reset",
    "silent-join", "wrong-code", "other-authority", "joined-reset"};
static_assert(std::size(kNames) == static_cast<size_t>(StrangerKind::kJoinedReset) + 1);

using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Ssl = std::unique_ptr<SSL, decltype(&SSL_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

bool IsOverTls(StrangerKind kind) {
  return kind == StrangerKind::kSilentJoin || kind == StrangerKind::kWrongCode ||
         kind == StrangerKind::kOtherAuthority || kind == StrangerKind::kJoinedReset;
}

bool IsResetting(StrangerKind kind) {
  return kind == StrangerKind::kRapidReset || kind == StrangerKind::kJoinedReset;
}

// Believes whoever it talks to.
SslContext NewContext() {
  SslContext context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

// One end of TLS, of which bytes are fed and taken by hand.
Ssl NewSsl(SSL_CTX* context, absl::string_view protocol) {
  Ssl ssl(SSL_new(context), &SSL_free);
  const std::string protocols =
      absl::StrCat(std::string(1, static_cast<char>(protocol.size())), protocol);
  SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                      static_cast<unsigned>(protocols.size()));
  SSL_set_tlsext_host_name(ssl.get(), kServerCertificateName);
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  // Empty is not over.
  BIO_set_mem_eof_return(in, -1);
  SSL_set_bio(ssl.get(), in, out);
  SSL_set_connect_state(ssl.get());
  return ssl;
}

// What TLS wants to be sent.
std::string TakeOutput(SSL* ssl) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(ssl), &data);
  std::string bytes(data, static_cast<size_t>(size));
  (void)BIO_reset(SSL_get_wbio(ssl));
  return bytes;
}

std::string Hello(absl::string_view protocol) {
  const SslContext context = NewContext();
  const Ssl ssl = NewSsl(context.get(), protocol);
  SSL_do_handshake(ssl.get());
  ERR_clear_error();
  return TakeOutput(ssl.get());
}

absl::Status UseCertificate(SSL_CTX* context, const std::string& key_pem,
                            const std::string& certificate_pem) {
  const auto read = [](const std::string& pem) {
    return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  };
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(read(key_pem).get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(read(certificate_pem).get(), nullptr, nullptr, nullptr), &X509_free);
  if (SSL_CTX_use_certificate(context, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    ERR_clear_error();
    return absl::InternalError("OpenSSL does not take a certificate");
  }
  return absl::OkStatus();
}

// A frame of HTTP/2 (RFC 9113, section 4.1).
std::string Frame(char type, char flags, uint32_t stream, absl::string_view payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame.push_back(static_cast<char>(payload.size() >> shift));
  frame.push_back(type);
  frame.push_back(flags);
  for (const int shift : {24, 16, 8, 0}) frame.push_back(static_cast<char>(stream >> shift));
  return absl::StrCat(frame, payload);
}

// Requests that are cancelled, and before the first of them the beginning of HTTP/2.
std::string RapidResets(absl::string_view headers, uint32_t first, uint32_t count) {
  std::string bytes;
  if (first == 0) bytes = absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Frame(4, 0, 0, ""));
  for (uint32_t i = first; i < first + count; ++i) {
    const uint32_t stream = 2 * i + 1;
    // HEADERS that end headers, of every second request also the stream; of the others DATA, an empty message, does. RST_STREAM: cancelled.
    const bool is_whole = i % 2 == 1;
    absl::StrAppend(&bytes, Frame(1, is_whole ? 4 : 5, stream, headers));
    if (is_whole) absl::StrAppend(&bytes, Frame(0, 1, stream, absl::string_view("\0\0\0\0", 5)));
    absl::StrAppend(&bytes, Frame(3, 0, stream, absl::string_view("\0\0\0\x08", 4)));
  }
  return bytes;
}

// A header field that is never indexed, with a name of the static table (RFC 7541, section 6.2.2) in a prefix of one byte or two.
std::string Field(absl::string_view name, absl::string_view value) {
  return absl::StrCat(name, std::string(1, static_cast<char>(value.size())), value);
}

// POST, http, "/".
constexpr absl::string_view kRequest = "\x83\x86\x84";
// A call that everybody may make.
std::string CallHeaders() {
  return absl::StrCat("\x83\x87", Field("\x04", "/slipway.v1.ServerService/GetServerInfo"),
                      Field("\x01", "server"), Field("\x0f\x10", "application/grpc"),
                      Field(Field(absl::string_view("\0", 1), "te"), "trailers"));
}

absl::StatusOr<std::string> JoinRequestFrame() {
  SLIPWAY_ASSIGN_OR_RETURN(const CertificateRequest request, NewCertificateRequest());
  v1::JoinRequest asked;
  asked.set_secret("AAAAAAAAAAAAAAAA");
  asked.set_request(request.request);
  asked.set_role(std::string(RoleName(Role::kUser)));
  return JoinFrame(asked.SerializeAsString());
}

enum class Stage { kConnecting, kHandshake, kActing };

struct Connection {
  std::list<Connection>::iterator self;
  UniqueFd fd;
  Ssl ssl{nullptr, &SSL_free};
  Stage stage = Stage::kConnecting;
  std::string unsent;
  int64_t sent_bytes = 0;
  uint32_t resets = 0;  // Requests made and cancelled.
  std::string answer;   // What came over TLS.
  bool has_acted = false;
  absl::Duration begun;
};

class ComingStrangers final : public Strangers {
 public:
  ComingStrangers(const Options& options, int port)
      : options_(options), port_(port), context_(NewContext()) {}

  ~ComingStrangers() override {
    if (!thread_.joinable()) return;
    const uint64_t one = 1;
    // Cannot fail: the counter is far from full.
    (void)!write(stop_.get(), &one, sizeof(one));
    thread_.join();
  }

  absl::Status Prepare() {
    switch (options_.kind) {
      case StrangerKind::kIdle:
      case StrangerKind::kSilentJoin:
        break;
      case StrangerKind::kRapidReset:
        headers_ = std::string(kRequest);
        break;
      case StrangerKind::kJoinedReset: {
        if (!options_.identity_file.empty()) {
          SLIPWAY_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(options_.identity_file));
          SLIPWAY_RETURN_IF_ERROR(
              UseCertificate(context_.get(), identity.key, identity.certificate));
        }
        headers_ = CallHeaders();
        most_bytes_ = INT64_MAX;
        break;
      }
      case StrangerKind::kHello:
        message_ = Hello(kHttp2Protocol);
        break;
      case StrangerKind::kHalfHello:
        message_ = Hello(kHttp2Protocol);
        message_.resize(message_.size() / 2);
        break;
      case StrangerKind::kWrongCode: {
        SLIPWAY_ASSIGN_OR_RETURN(message_, JoinRequestFrame());
        break;
      }
      case StrangerKind::kOtherAuthority: {
        SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<CertificateAuthority> authority,
                                 CertificateAuthority::Create(absl::Now()));
        SLIPWAY_ASSIGN_OR_RETURN(const CertificateRequest request, NewCertificateRequest());
        SLIPWAY_ASSIGN_OR_RETURN(const std::string certificate,
                                 authority->SignCaller(request.request, NewIdentityId(), "stranger",
                                                       absl::Now(), absl::Hours(1)));
        SLIPWAY_RETURN_IF_ERROR(UseCertificate(context_.get(), request.key, certificate));
        break;
      }
    }
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    stop_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    epoll_event event = {.events = EPOLLIN, .data = {.ptr = nullptr}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_.get(), &event) != 0) {
      return ErrnoStatus(errno, "cannot wait for events");
    }
    thread_ = std::thread([this] { Run(); });
    return absl::OkStatus();
  }

  StrangerCounts Counts() const override {
    absl::MutexLock lock(&mutex_);
    return told_;
  }

 private:
  void Run() {
    std::array<epoll_event, kAtATime> events;
    for (;;) {
      const int millis = Come();
      {
        absl::MutexLock lock(&mutex_);
        told_ = counts_;
      }
      const int count =
          epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), millis);
      for (int i = 0; i < count; ++i) {
        // Each is told of once, and ends nobody else.
        auto* const connection = static_cast<Connection*>(events[i].data.ptr);
        if (connection == nullptr) return;
        if (!Drive(*connection)) End(*connection);
      }
    }
  }

  // Begins connections, as many as are wanted now. How long to wait for events, as epoll_wait has it.
  int Come() {
    for (int i = 0; i < kAtATime; ++i) {
      if (static_cast<int>(connections_.size()) >= options_.at_a_time) return -1;
      if (begun_ >= options_.in_all) return -1;
      ++begun_;
      if (!Begin()) {
        ++counts_.failed;
        return kPauseMillis;
      }
    }
    return 0;
  }

  bool Begin() {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.is_open()) return false;
    const int on = 1;
    // What ends leaves nothing behind that would keep its port.
    const linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    const sockaddr_in from = Address(kFirstSource + static_cast<uint32_t>(begun_) % kSources, 0);
    const sockaddr_in to = Address(INADDR_LOOPBACK, port_);
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&from), sizeof(from)) != 0) return false;
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0 &&
        errno != EINPROGRESS) {
      return false;
    }
    Connection& connection = connections_.emplace_back();
    connection.self = std::prev(connections_.end());
    connection.fd = std::move(fd);
    connection.begun = clock_.Monotonic();
    epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                         .data = {.ptr = &connection}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.fd.get(), &event) == 0) return true;
    connections_.pop_back();
    return false;
  }

  static sockaddr_in Address(uint32_t host, int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(host);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
  }

  // As far as it goes now; false when the connection is over.
  bool Drive(Connection& connection) {
    if (connection.stage == Stage::kConnecting) {
      int error = 0;
      socklen_t size = sizeof(error);
      getsockopt(connection.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      // One that is reset already did come about.
      if (error != 0 && error != ECONNRESET) return false;
      ++counts_.made;
      counts_.most_open = std::max(counts_.most_open, ++counts_.open);
      connection.stage = Stage::kActing;
      if (IsOverTls(options_.kind)) {
        connection.stage = Stage::kHandshake;
        connection.ssl = NewSsl(context_.get(), Protocol());
        if (!Shake(connection)) return false;
      } else {
        connection.unsent = message_;
      }
    }
    // What has come is read even when nothing can be sent any more.
    const bool sends = Send(connection);
    return Receive(connection) && sends;
  }

  bool Send(Connection& connection) {
    for (;;) {
      if (connection.unsent.empty()) {
        if (connection.stage != Stage::kActing) return true;
        if (!std::exchange(connection.has_acted, true)) ++counts_.acted;
        if (!IsResetting(options_.kind) || connection.sent_bytes > most_bytes_) return true;
        const std::string resets = RapidResets(headers_, connection.resets, kResets);
        connection.resets += kResets;
        if (connection.ssl == nullptr) {
          connection.unsent = resets;
        } else {
          SSL_write(connection.ssl.get(), resets.data(), static_cast<int>(resets.size()));
          connection.unsent = TakeOutput(connection.ssl.get());
        }
      }
      const ssize_t size = send(connection.fd.get(), connection.unsent.data(),
                                connection.unsent.size(), MSG_NOSIGNAL);
      if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      connection.unsent.erase(0, static_cast<size_t>(size));
      connection.sent_bytes += size;
      counts_.sent_bytes += size;
    }
  }

  bool Receive(Connection& connection) {
    std::array<char, 16 << 10> bytes;
    for (;;) {
      const ssize_t size = recv(connection.fd.get(), bytes.data(), bytes.size(), 0);
      if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      if (size == 0) return false;
      // Only a server of HTTP/2 without TLS has something to say there.
      if (options_.kind == StrangerKind::kRapidReset) LetIn(connection);
      if (connection.ssl == nullptr) continue;
      BIO_write(SSL_get_rbio(connection.ssl.get()), bytes.data(), static_cast<int>(size));
      if (!Shake(connection) || !Send(connection)) return false;
    }
  }

  // Takes TLS, and what is said over it, as far as it goes.
  bool Shake(Connection& connection) {
    SSL* const ssl = connection.ssl.get();
    if (connection.stage == Stage::kHandshake && SSL_do_handshake(ssl) == 1) {
      connection.stage = Stage::kActing;
      if (!message_.empty()) SSL_write(ssl, message_.data(), static_cast<int>(message_.size()));
    }
    bool is_over = false;
    if (connection.stage == Stage::kActing) {
      std::array<char, 4 << 10> bytes;
      int size = 0;
      while ((size = SSL_read(ssl, bytes.data(), static_cast<int>(bytes.size()))) > 0) {
        connection.answer.append(bytes.data(), static_cast<size_t>(size));
      }
      is_over = SSL_get_error(ssl, size) != SSL_ERROR_WANT_READ;
      if (!connection.answer.empty()) Judge(connection);
    }
    ERR_clear_error();
    connection.unsent += TakeOutput(ssl);
    return !is_over;
  }

  // What the server said over TLS.
  void Judge(Connection& connection) {
    if (options_.kind != StrangerKind::kWrongCode) return LetIn(connection);
    const absl::string_view answer = connection.answer;
    if (answer.size() < kJoinLengthBytes) return;
    const absl::string_view said = answer.substr(kJoinLengthBytes);
    if (said.size() < JoinLength(answer.substr(0, kJoinLengthBytes))) return;
    v1::JoinAnswer parsed;
    if (!parsed.ParseFromArray(said.data(), static_cast<int>(said.size())) || parsed.code() == 0) {
      return LetIn(connection);
    }
    ++counts_.refused;
    connection.answer.clear();
  }

  void LetIn(Connection& connection) {
    ++counts_.let_in;
    connection.answer.clear();
  }

  // The server has ended it, or it did not come about.
  void End(Connection& connection) {
    if (connection.stage == Stage::kConnecting) {
      ++counts_.failed;
    } else {
      --counts_.open;
      ++counts_.shown_out;
      const absl::Duration life = clock_.Monotonic() - connection.begun;
      counts_.lives += life;
      counts_.longest_life = std::max(counts_.longest_life, life);
    }
    connections_.erase(connection.self);
  }

  absl::string_view Protocol() const {
    const bool calls = options_.kind == StrangerKind::kOtherAuthority ||
                       options_.kind == StrangerKind::kJoinedReset;
    return calls ? kHttp2Protocol : kJoinProtocol;
  }

  const Options options_;
  const int port_;
  const SslContext context_;
  const SystemClock clock_;
  std::string message_;  // What is sent, over TLS where the kind uses it.
  std::string headers_;  // Of what is cancelled.
  int64_t most_bytes_ = kMostBytes;
  UniqueFd epoll_;
  UniqueFd stop_;  // An eventfd.

  // The thread's alone.
  std::list<Connection> connections_;
  int64_t begun_ = 0;
  StrangerCounts counts_;

  mutable absl::Mutex mutex_;
  StrangerCounts told_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace

absl::string_view StrangerName(StrangerKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<StrangerKind> StrangerNamed(absl::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<StrangerKind>(found - std::begin(kNames));
}

absl::StatusOr<std::unique_ptr<Strangers>> Strangers::Come(const Options& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const ListenAddress address, ParseListenAddress(options.address));
  if (address.host != "127.0.0.1") {
    return absl::InvalidArgumentError(
        absl::StrCat("strangers come to 127.0.0.1 alone, not to \"", options.address, "\""));
  }
  auto strangers = std::make_unique<ComingStrangers>(options, address.port);
  SLIPWAY_RETURN_IF_ERROR(strangers->Prepare());
  return std::unique_ptr<Strangers>(std::move(strangers));
}

}  // namespace slipway::testing
