#include "core/base/own_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr uid_t kUser = 1000;
constexpr uid_t kOther = 1001;
constexpr uid_t kRoot = 0;

struct stat Info(mode_t mode, uid_t owner) {
  struct stat info {};
  info.st_mode = mode;
  info.st_uid = owner;
  return info;
}

absl::Status Folder(mode_t mode, uid_t owner) {
  return CheckOwnFolder(Info(S_IFDIR | mode, owner), kUser, "/some/folder");
}

absl::Status Secret(mode_t mode, uid_t owner) {
  return CheckSecretFile(Info(S_IFREG | mode, owner), kUser, "/some/token");
}

MATCHER_P(IsRefusedWith, remedy, "") {
  return absl::IsPermissionDenied(arg) && arg.message().find(remedy) != std::string::npos;
}

TEST(CheckOwnFolderTest, TakesWhatNobodyElseMayWriteTo) {
  for (const mode_t mode : {0700, 0755, 0500, 02755}) EXPECT_OK(Folder(mode, kUser)) << mode;
  EXPECT_OK(Folder(0755, kRoot));
}

TEST(CheckOwnFolderTest, RefusesWhatOthersMayWriteTo) {
  for (const mode_t mode : {0777, 0770, 0720, 0702}) {
    EXPECT_THAT(Folder(mode, kUser), IsRefusedWith("chmod go-w /some/folder")) << mode;
  }
  EXPECT_THAT(Folder(0775, kRoot), IsRefusedWith("chmod go-w /some/folder"));
  EXPECT_THAT(Folder(0700, kOther), IsRefusedWith("chown 1000 /some/folder"));
  // /tmp is as it should be.
  EXPECT_THAT(Folder(01777, kRoot), IsRefusedWith("a folder of its own below it"));
}

TEST(CheckSecretFileTest, TakesWhatIsOnesOwn) {
  for (const mode_t mode : {0600, 0400, 0700}) EXPECT_OK(Secret(mode, kUser)) << mode;
  // How root gives a secret to a service.
  EXPECT_OK(Secret(0640, kRoot));
  EXPECT_OK(Secret(0600, kRoot));
}

TEST(CheckSecretFileTest, RefusesWhatOthersReadOrWrite) {
  for (const mode_t mode : {0666, 0644, 0604, 0640, 0620, 0601}) {
    EXPECT_THAT(Secret(mode, kUser), IsRefusedWith("chmod 600 /some/token")) << mode;
  }
  for (const mode_t mode : {0644, 0660, 0641}) {
    EXPECT_THAT(Secret(mode, kRoot), IsRefusedWith("chmod 640 /some/token")) << mode;
  }
  EXPECT_THAT(Secret(0600, kOther), IsRefusedWith("chown 1000 /some/token"));
}

TEST(OwnFilesTest, LooksAtWhatIsThere) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("own_files"));
  const std::string path = JoinPath(folder.path(), "a/b");
  ASSERT_OK(MakeOwnFolder(path));
  ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  EXPECT_THAT(MakeOwnFolder(path), IsRefusedWith("chmod go-w " + path));
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_OK(MakeOwnFolder(path));

  const std::string secret = JoinPath(path, "token");
  EXPECT_THAT(CheckSecretFile(secret), StatusIs(absl::StatusCode::kNotFound, HasSubstr(secret)));
  ASSERT_OK(WriteFileAtomically(secret, "x", false));
  ASSERT_EQ(chmod(secret.c_str(), 0644), 0);
  EXPECT_THAT(CheckSecretFile(secret), IsRefusedWith("chmod 600 " + secret));
  ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
  EXPECT_OK(CheckSecretFile(secret));
}

}  // namespace
}  // namespace slipway
