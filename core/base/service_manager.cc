#include "core/base/service_manager.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace slipway {

absl::Status NotifyServiceManager(absl::string_view socket, absl::string_view state) {
  if (socket.empty()) return absl::OkStatus();
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if ((socket.front() != '/' && socket.front() != '@') ||
      socket.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", socket, "\" is no address of a service manager"));
  }
  memcpy(address.sun_path, socket.data(), socket.size());
  if (socket.front() == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::ErrnoToStatus(errno, "socket");
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  const ssize_t sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&address), length);
  const int error = errno;
  close(fd);
  if (sent == static_cast<ssize_t>(state.size())) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the service manager at \"", socket, "\" is not told: ", strerror(error)));
}

absl::Status NotifyServiceManager(absl::string_view state) {
  const char* const socket = getenv("NOTIFY_SOCKET");
  return NotifyServiceManager(socket == nullptr ? "" : socket, state);
}

}  // namespace slipway
