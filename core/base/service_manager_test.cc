#include "core/base/service_manager.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

// A manager that listens at a name that is no file's.
class Manager {
 public:
  Manager() : name_(absl::StrCat("@slipway-test-", getpid())) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, name_.data(), name_.size());
    address.sun_path[0] = '\0';
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  }
  ~Manager() { close(fd_); }

  bool bound() const { return bound_; }
  const std::string& name() const { return name_; }
  std::string Receive() {
    char buffer[256];
    const ssize_t size = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(buffer, static_cast<size_t>(size));
  }

 private:
  const std::string name_;
  int fd_ = -1;
  bool bound_ = false;
};

TEST(ServiceManagerTest, IsTold) {
  Manager manager;
  ASSERT_TRUE(manager.bound());
  EXPECT_OK(NotifyServiceManager(manager.name(), "READY=1\nSTATUS=serving"));
  EXPECT_EQ(manager.Receive(), "READY=1\nSTATUS=serving");
}

TEST(ServiceManagerTest, WithoutOneNothingIsDone) {
  EXPECT_OK(NotifyServiceManager("", "READY=1"));
  unsetenv("NOTIFY_SOCKET");
  EXPECT_OK(NotifyServiceManager("READY=1"));
}

TEST(ServiceManagerTest, OneThatIsNotThereIsAnError) {
  EXPECT_THAT(NotifyServiceManager("@slipway-nobody", "READY=1"),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(NotifyServiceManager("relative", "READY=1"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(NotifyServiceManager("/" + std::string(200, 'x'), "READY=1"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
