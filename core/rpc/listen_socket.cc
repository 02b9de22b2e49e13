#include "core/rpc/listen_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/listen_address.h"

namespace slipway {
namespace {

// Linux takes the lesser of this and net.core.somaxconn.
constexpr int kBacklog = 4096;

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status CannotListen(absl::string_view address, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on \"", address, "\": ", why));
}

absl::Status CannotListen(absl::string_view address, int error_number) {
  switch (error_number) {
    case EADDRINUSE:
      return CannotListen(address, "it is in use");
    case EADDRNOTAVAIL:
      return CannotListen(address, "it is no address of this machine");
    default:
      return CannotListen(address, strerror(error_number));
  }
}

// Whether somebody answers at a unix socket.
bool IsServed(const sockaddr_un& address) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

absl::StatusOr<UniqueFd> ListenAtPath(const std::string& address, const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  memcpy(name.sun_path, path.data(), path.size());
  if (IsServed(name)) return CannotListen(address, "another process does");
  struct stat found = {};
  if (lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) return CannotListen(address, "a file of that name is there");
    unlink(path.c_str());
  }
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return CannotListen(address, errno);
  // Linux gives the socket's file the mode of its descriptor, so that it is never there with another one.
  if (fchmod(fd.get(), 0600) != 0 ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 ||
      chmod(path.c_str(), 0600) != 0 || listen(fd.get(), kBacklog) != 0) {
    return CannotListen(address, errno);
  }
  return fd;
}

int PortOf(int fd) {
  sockaddr_storage name = {};
  socklen_t size = sizeof(name);
  getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

// 0, or the number of the error.
int ListenAtHost(const addrinfo& at, int port, UniqueFd& fd) {
  fd.reset(socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return errno;
  sockaddr_storage name = {};
  memcpy(&name, at.ai_addr, at.ai_addrlen);
  if (at.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(name).sin6_port = htons(static_cast<uint16_t>(port));
  } else {
    reinterpret_cast<sockaddr_in&>(name).sin_port = htons(static_cast<uint16_t>(port));
  }
  const int on = 1;
  const int off = 0;
  // A server that was just ended may come back; "[::]" takes callers of both kinds.
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (at.ai_family == AF_INET6) {
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  const bool listens =
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), at.ai_addrlen) == 0 &&
      listen(fd.get(), kBacklog) == 0;
  return listens ? 0 : errno;
}

absl::StatusOr<AddressList> Resolve(const std::string& address, absl::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(std::string(host).c_str(), nullptr, &hints, &found);
  if (error != 0) return CannotListen(address, gai_strerror(error));
  return AddressList(found, &freeaddrinfo);
}

}  // namespace

absl::StatusOr<ListenSocket> ListenAt(const std::string& address) {
  SLIPWAY_ASSIGN_OR_RETURN(const ListenAddress parsed, ParseListenAddress(address));
  ListenSocket listening;
  if (parsed.host.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(UniqueFd fd,
                             ListenAtPath(address, address.substr(kUnixAddressPrefix.size())));
    listening.fds.push_back(std::move(fd));
    listening.address = address;
    return listening;
  }
  SLIPWAY_ASSIGN_OR_RETURN(const AddressList resolved, Resolve(address, parsed.host));
  int port = parsed.port;
  int lacking = EADDRNOTAVAIL;
  for (const addrinfo* at = resolved.get(); at != nullptr; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    UniqueFd fd;
    const int error = ListenAtHost(*at, port, fd);
    if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) {
      // A name may stand for addresses of a kind that this machine lacks, as "localhost" does without IPv6.
      lacking = error;
      continue;
    }
    if (error != 0) return CannotListen(address, error);
    if (port == 0) port = PortOf(fd.get());
    listening.fds.push_back(std::move(fd));
  }
  if (listening.fds.empty()) return CannotListen(address, lacking);
  listening.address = absl::StrCat(parsed.host, ":", port);
  return listening;
}

}  // namespace slipway
