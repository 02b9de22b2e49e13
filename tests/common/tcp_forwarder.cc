#include "tests/common/tcp_forwarder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace slipway::testing {
namespace {

sockaddr_in Loopback(const std::string& address) {
  int port = 0;
  if (!absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) port = 0;
  sockaddr_in result = {};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<uint16_t>(port));
  result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return result;
}

// What a client of an HTTP proxy wants to be connected to; empty when it does not say.
std::string ReadConnect(int client) {
  std::string request;
  char c = 0;
  while (!absl::EndsWith(request, "\r\n\r\n") && read(client, &c, 1) == 1) request.push_back(c);
  const std::vector<std::string> words = absl::StrSplit(request, ' ');
  return words.size() > 2 && words[0] == "CONNECT" ? words[1] : "";
}

UniqueFd NewSocket() {
  UniqueFd made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return made;
}

}  // namespace

absl::Status TcpForwarder::Start(const std::string& target) {
  target_ = target;
  listener_ = NewSocket();
  sockaddr_in name = Loopback(address_.empty() ? ":0" : address_);
  socklen_t size = sizeof(name);
  auto* const generic = reinterpret_cast<sockaddr*>(&name);
  if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 64) != 0 ||
      getsockname(listener_.get(), generic, &size) != 0) {
    return ErrnoStatus(errno, "a forwarder cannot listen");
  }
  address_ = absl::StrCat("127.0.0.1:", ntohs(name.sin_port));
  {
    absl::MutexLock lock(&mutex_);
    is_frozen_ = false;
  }
  accepts_ = std::thread([this] { Accept(); });
  return absl::OkStatus();
}

void TcpForwarder::Stop() {
  if (!accepts_.joinable()) return;
  shutdown(listener_.get(), SHUT_RDWR);
  accepts_.join();
  listener_.reset();
  std::list<Connection> open;
  {
    absl::MutexLock lock(&mutex_);
    open = std::move(open_);
    open_.clear();
  }
  for (Connection& connection : open) {
    shutdown(connection.client.get(), SHUT_RDWR);
    shutdown(connection.target.get(), SHUT_RDWR);
    connection.up.join();
    connection.down.join();
  }
}

void TcpForwarder::Freeze() {
  absl::MutexLock lock(&mutex_);
  is_frozen_ = true;
}

void TcpForwarder::Forget() {
  absl::MutexLock lock(&mutex_);
  for (Connection& connection : open_) connection.is_forgotten = true;
}

int TcpForwarder::connections() const {
  absl::MutexLock lock(&mutex_);
  return connections_;
}

void TcpForwarder::Accept() {
  while (true) {
    UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.is_open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    const int on = 1;
    setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    UniqueFd target = NewSocket();
    const sockaddr_in name = Loopback(target_.empty() ? ReadConnect(client.get()) : target_);
    if (connect(target.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0) {
      continue;  // The client sees its connection closed.
    }
    if (target_.empty()) {
      constexpr absl::string_view kConnected = "HTTP/1.1 200 OK\r\n\r\n";
      if (send(client.get(), kConnected.data(), kConnected.size(), MSG_NOSIGNAL) < 0) continue;
    }
    absl::MutexLock lock(&mutex_);
    ++connections_;
    Connection& connection = open_.emplace_back();
    connection.client = std::move(client);
    connection.target = std::move(target);
    const int near = connection.client.get();
    const int far = connection.target.get();
    connection.up = std::thread([this, &connection, near, far] { Pump(connection, near, far); });
    connection.down = std::thread([this, &connection, near, far] { Pump(connection, far, near); });
  }
}

void TcpForwarder::Pump(const Connection& connection, int from, int to) {
  std::vector<char> buffer(256 << 10);
  while (true) {
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    {
      absl::MutexLock lock(&mutex_);
      if (is_frozen_ || connection.is_forgotten) continue;
    }
    for (ssize_t sent = 0; sent < count;) {
      const ssize_t more =
          send(to, buffer.data() + sent, static_cast<size_t>(count - sent), MSG_NOSIGNAL);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) break;
      sent += more;
    }
  }
  // The other direction ends too.
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace slipway::testing
