#include "core/rpc/held_connection.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/base/files.h"

namespace slipway {

uint64_t SocketNumber(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) ? info.st_ino : 0;
}

// Its descriptor may be another file's by now, so what is ended is a copy that was looked at.
void EndConnection(const HeldConnection& connection) {
  const UniqueFd copy(fcntl(connection.fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open() || SocketNumber(copy.get()) != connection.socket) return;
  shutdown(copy.get(), SHUT_RDWR);
  while (recv(copy.get(), nullptr, INT_MAX, MSG_TRUNC | MSG_DONTWAIT) > 0) {
  }
}

bool IsOpen(const HeldConnection& connection) {
  return SocketNumber(connection.fd) == connection.socket;
}

}  // namespace slipway
