#include "core/rpc/listen_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class ListenSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Not in the test's own folder, whose path is longer than that of a socket may be.
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("listen-");
    ASSERT_OK(folder);
    folder_ = *std::move(folder);
    path_ = JoinPath(folder_.path(), "socket");
  }

  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(ListenSocketTest, TakesAFreePort) {
  ASSERT_OK_AND_ASSIGN(const ListenSocket listening, ListenAt("127.0.0.1:0"));
  EXPECT_TRUE(absl::StartsWith(listening.address, "127.0.0.1:"));
  EXPECT_FALSE(absl::EndsWith(listening.address, ":0"));
  ASSERT_EQ(listening.fds.size(), 1);
  EXPECT_THAT(ListenAt(listening.address),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("it is in use")));
}

TEST_F(ListenSocketTest, ANameMayStandForSeveralAddressesOfOnePort) {
  ASSERT_OK_AND_ASSIGN(const ListenSocket listening, ListenAt("localhost:0"));
  ASSERT_FALSE(listening.fds.empty());
  EXPECT_TRUE(absl::StartsWith(listening.address, "localhost:"));
  const std::string port = listening.address.substr(listening.address.rfind(':'));
  EXPECT_THAT(ListenAt(absl::StrCat("127.0.0.1", port)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("it is in use")));
}

TEST_F(ListenSocketTest, OthersAddressesAreRefused) {
  // Of a network for documentation (RFC 5737).
  EXPECT_THAT(ListenAt("192.0.2.1:0"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no address of this machine")));
  EXPECT_THAT(ListenAt("nobody.invalid:0"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(ListenAt("7411"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ListenSocketTest, AUnixSocketIsForItsOwnerAlone) {
  const mode_t loose = umask(0);
  const absl::StatusOr<ListenSocket> listening = ListenAt("unix:" + path_);
  umask(loose);
  ASSERT_OK(listening);
  EXPECT_EQ(listening->address, "unix:" + path_);
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST_F(ListenSocketTest, TakesThePlaceOfAUnixSocketThatNobodyServes) {
  {
    ASSERT_OK_AND_ASSIGN(const ListenSocket listening, ListenAt("unix:" + path_));
    EXPECT_THAT(ListenAt("unix:" + path_),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("another process does")));
  }
  EXPECT_OK(ListenAt("unix:" + path_));
}

TEST_F(ListenSocketTest, LeavesFilesAlone) {
  ASSERT_OK(WriteFileAtomically(path_, "kept", false));
  EXPECT_THAT(ListenAt("unix:" + path_),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("a file of that name")));
  EXPECT_THAT(ReadFile(path_, 10), ::slipway::testing::IsOkAndHolds("kept"));
}

}  // namespace
}  // namespace slipway
