#include "tests/common/plain_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace slipway::testing {

UniqueFd Connect(absl::string_view address) {
  sockaddr_storage name = {};
  socklen_t size = 0;
  if (absl::ConsumePrefix(&address, "unix:")) {
    auto& of_path = reinterpret_cast<sockaddr_un&>(name);
    of_path.sun_family = AF_UNIX;
    address.copy(of_path.sun_path, sizeof(of_path.sun_path) - 1);
    size = sizeof(of_path);
  } else {
    auto& of_port = reinterpret_cast<sockaddr_in&>(name);
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) << address;
    of_port.sin_family = AF_INET;
    of_port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    of_port.sin_port = htons(static_cast<uint16_t>(port));
    size = sizeof(of_port);
  }
  UniqueFd fd(socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&name), size), 0) << address;
  return fd;
}

void Send(const UniqueFd& fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

std::string ReadAll(const UniqueFd& fd) {
  std::string all;
  std::vector<char> piece(64 << 10);
  for (;;) {
    const ssize_t size = recv(fd.get(), piece.data(), piece.size(), 0);
    if (size <= 0) return all;
    all.append(piece.data(), static_cast<size_t>(size));
  }
}

std::string Ask(absl::string_view address, absl::string_view request) {
  const UniqueFd fd = Connect(address);
  Send(fd, request);
  return ReadAll(fd);
}

}  // namespace slipway::testing
