// Processes started under a loose umask, with secrets and folders that others may change.
#include <stdlib.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/service_process.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::RunfilePath;
using ::slipway::testing::ServiceProcess;
using ::testing::HasSubstr;

class LooseModesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Not below TEST_TMPDIR: a socket's path has at most 107 bytes.
    setenv("TMPDIR", "/tmp", 1);
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("slipway-modes"));
    before_ = umask(0);
  }
  void TearDown() override { umask(before_); }

  std::string Path(absl::string_view name) const { return JoinPath(folder_.path(), name); }
  std::string Socket() const { return Path("socket"); }

  // A process with a socket, in folders of its own but where `more` says otherwise.
  std::unique_ptr<ServiceProcess> Make(const std::string& binary, std::vector<std::string> more) {
    std::vector<std::string> argv = {RunfilePath(binary), "--listen=unix:" + Socket()};
    if (binary == kServer) {
      argv.insert(argv.end(),
                  {"--workers=0", "--data-dir=" + Path("data"), "--cache-dir=" + Path("cache")});
    } else {
      argv.insert(argv.end(), {"--state-dir=" + Path("data"), "--cache-dir=" + Path("cache")});
    }
    argv.insert(argv.end(), more.begin(), more.end());
    return std::make_unique<ServiceProcess>(ServiceProcess::Options{
        .name = binary, .argv = argv, .environment = {}, .log_file = Path("log"), .limits = {}});
  }
  std::string WriteToken(mode_t mode) {
    const std::string path = Path("token");
    EXPECT_OK(WriteFileAtomically(path, "0123456789abcdef", false));
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }

  static constexpr char kServer[] = "server/slipwayd";
  static constexpr char kAgent[] = "device_agent/slipway-agent";
  mode_t before_ = 0;
  TemporaryFolder folder_;
};

TEST_F(LooseModesTest, SocketsAndStateAreTheUsersAlone) {
  for (const std::string binary : {kServer, kAgent}) {
    const std::unique_ptr<ServiceProcess> process = Make(binary, {});
    ASSERT_OK(process->Start());
    EXPECT_EQ(ModeOf(Socket()) & 077, 0u) << binary;
    EXPECT_EQ(ModeOf(Path("data")), 0700u) << binary;
    if (binary == kServer) EXPECT_EQ(ModeOf(Path("data/jobs.sqlite")), 0600u);
    ASSERT_OK(process->Stop());
    ASSERT_OK(RemoveTree(Path("data")));
    ASSERT_OK(RemoveTree(Path("cache")));
  }
}

TEST_F(LooseModesTest, ATokenThatOthersReadIsRefused) {
  for (const mode_t mode : {0666, 0644}) {
    const std::string token = WriteToken(mode);
    const testing::CommandResult result = testing::RunCommand(
        {.argv = {RunfilePath(kServer), "identities", "--token-file=" + token}});
    ASSERT_FALSE(result.status.ok());
    EXPECT_THAT(result.err, HasSubstr("chmod 600 " + token));
  }
}

TEST_F(LooseModesTest, AnAuthorityThatOthersReadIsRefused) {
  const std::unique_ptr<ServiceProcess> first = Make(kServer, {});
  ASSERT_OK(first->Start());
  ASSERT_OK(first->Stop());
  const std::string authority = Path("data/authority.pem");
  EXPECT_EQ(ModeOf(authority), 0600u);
  ASSERT_EQ(chmod(authority.c_str(), 0644), 0);
  const absl::Status started = Make(kServer, {})->Start();
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.message(), HasSubstr("chmod 600 " + authority));
}

TEST_F(LooseModesTest, AFolderThatOthersWriteToIsRefused) {
  for (const std::string binary : {kServer, kAgent}) {
    for (const std::string name : {"data", "cache"}) {
      ASSERT_OK(RemoveTree(Path("data")));
      ASSERT_OK(RemoveTree(Path("cache")));
      ASSERT_OK(MakeFolders(Path(name)));
      ASSERT_EQ(chmod(Path(name).c_str(), 0777), 0);
      const absl::Status started = Make(binary, {})->Start();
      ASSERT_FALSE(started.ok()) << binary << " " << name;
      EXPECT_THAT(started.message(), HasSubstr("chmod go-w " + Path(name))) << binary;
    }
  }
}

}  // namespace
}  // namespace slipway
