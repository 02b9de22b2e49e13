#include "core/rpc/knock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "core/rpc/join_frame.h"
#include "core/rpc/listen_address.h"
#include "core/rpc/tls_stream.h"

namespace slipway {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status Unreachable(const std::string& address, absl::string_view why) {
  return absl::UnavailableError(
      absl::StrCat("the server at \"", address, "\" cannot be reached: ", why));
}

absl::StatusOr<AddressList> Resolve(const std::string& address) {
  SLIPWAY_ASSIGN_OR_RETURN(const ListenAddress parsed, ParseListenAddress(address));
  absl::string_view host = parsed.host;
  if (host.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address, "\": who may use a server's unix socket need not join it"));
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(std::string(host).c_str(), absl::StrCat(parsed.port).c_str(), &hints, &found);
  if (error != 0) return Unreachable(address, gai_strerror(error));
  return AddressList(found, &freeaddrinfo);
}

// Whether it came about by `deadline`.
bool WaitFor(int fd, short event, absl::Time deadline) {
  for (;;) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    pollfd polled = {.fd = fd, .events = event, .revents = 0};
    const int millis =
        static_cast<int>(absl::ToInt64Milliseconds(std::min(left, absl::Minutes(1)))) + 1;
    const int count = poll(&polled, 1, millis);
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

absl::StatusOr<UniqueFd> Connect(const std::string& address, absl::Time deadline) {
  SLIPWAY_ASSIGN_OR_RETURN(const AddressList resolved, Resolve(address));
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = resolved.get(); at != nullptr; at = at->ai_next) {
    UniqueFd fd(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.is_open()) continue;
    error = connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      socklen_t size = sizeof(error);
      if (!WaitFor(fd.get(), POLLOUT, deadline)) {
        error = ETIMEDOUT;
      } else {
        getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
    if (error != 0) continue;
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
  }
  return Unreachable(address, strerror(error));
}

// Repeats a step of a stream until it is done.
template <typename Step>
absl::Status Finish(const std::string& address, const TlsStream& stream, absl::Time deadline,
                    absl::string_view what, const Step& step) {
  for (;;) {
    switch (step()) {
      case TlsProgress::kDone:
        return absl::OkStatus();
      case TlsProgress::kWantsRead:
        if (!WaitFor(stream.fd(), POLLIN, deadline)) {
          return Unreachable(address, absl::StrCat("no answer in time, while ", what));
        }
        break;
      case TlsProgress::kWantsWrite:
        if (!WaitFor(stream.fd(), POLLOUT, deadline)) {
          return Unreachable(address, absl::StrCat("no answer in time, while ", what));
        }
        break;
      case TlsProgress::kOver:
        return Unreachable(address, absl::StrCat("the connection was closed while ", what,
                                                 ": is it a server that callers join, and is it "
                                                 "of this version"));
    }
  }
}

}  // namespace

absl::StatusOr<JoinDoorAnswer> KnockAtJoinDoor(const std::string& address,
                                               absl::string_view authority,
                                               absl::string_view request, absl::Time deadline) {
  SLIPWAY_ASSIGN_OR_RETURN(UniqueFd fd, Connect(address, deadline));
  SLIPWAY_ASSIGN_OR_RETURN(TlsStream stream, TlsStream::Call(std::move(fd)));
  SLIPWAY_RETURN_IF_ERROR(
      Finish(address, stream, deadline, "greeting", [&stream] { return stream.Handshake(); }));
  JoinDoorAnswer result;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(result.authority, stream.CheckServer(authority),
                                absl::StrCat("the server at \"", address, "\""));
  std::string sent = JoinFrame(request);
  SLIPWAY_RETURN_IF_ERROR(
      Finish(address, stream, deadline, "asking", [&] { return stream.Write(sent); }));
  std::string length;
  SLIPWAY_RETURN_IF_ERROR(Finish(address, stream, deadline, "waiting for the answer",
                                 [&] { return stream.Read(length, kJoinLengthBytes); }));
  const size_t size = JoinLength(length);
  if (size > kMaxJoinBytes) return Unreachable(address, "its answer is too long");
  SLIPWAY_RETURN_IF_ERROR(Finish(address, stream, deadline, "reading the answer",
                                 [&] { return stream.Read(result.answer, size); }));
  stream.Close();
  return result;
}

}  // namespace slipway
