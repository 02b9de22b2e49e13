// What a server does with more connections than it can have.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "client/client.h"
#include "core/base/descriptor_limit.h"
#include "core/base/files.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::Cluster;

constexpr int kDescriptors = 256;
constexpr int kMany = 300;
constexpr absl::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

class ConnectionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GT(RaiseDescriptorLimit(), 2 * kMany);
    // Its port is known when it has been started once.
    // Without TLS, whoever sends anything is let in.
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({.agents = 0, .tcp = true, .insecure = true}));
    cluster_->server().Kill();
    cluster_->server().options().limits.open_files = kDescriptors;
    ASSERT_OK(cluster_->server().Start());
  }

  // Connections that have sent these bytes.
  std::vector<UniqueFd> Connect(int count, absl::string_view bytes) {
    int port = 0;
    const std::string& address = cluster_->address();
    EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(static_cast<uint16_t>(port));
    std::vector<UniqueFd> connections;
    for (int i = 0; i < count; ++i) {
      connections.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const int fd = connections.back().get();
      EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
      // One that was closed already may say so.
      (void)!send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    return connections;
  }

  // Waits until the server has closed as many of them.
  static int Closed(const std::vector<UniqueFd>& connections, int wanted) {
    int closed = 0;
    for (const UniqueFd& connection : connections) {
      pollfd polled = {.fd = connection.get(), .events = POLLRDHUP, .revents = 0};
      const int millis = closed < wanted ? 100 : 0;
      if (poll(&polled, 1, millis) == 1) ++closed;
    }
    return closed;
  }

  bool IsServed() {
    const absl::StatusOr<std::unique_ptr<Client>> client = cluster_->Connect();
    return client.ok() && (*client)->ListDevices().ok();
  }

  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ConnectionsTest, ServesBesideThoseThatSayNothing) {
  std::vector<UniqueFd> silent = Connect(kMany, "");
  EXPECT_TRUE(IsServed());
  silent.clear();
  EXPECT_TRUE(IsServed());
}

TEST_F(ConnectionsTest, ServesAgainWhenTooManyHaveLeft) {
  std::vector<UniqueFd> idle = Connect(kMany, kHttp2Preface);
  EXPECT_GE(Closed(idle, kMany - kDescriptors), kMany - kDescriptors);
  idle.clear();
  EXPECT_TRUE(IsServed());
}

}  // namespace
}  // namespace slipway
