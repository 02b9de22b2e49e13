#include "server/web/upload.h"

#include <sys/stat.h>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

bool Exists(const std::string& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0;
}

TEST(UploadFolderTest, RemovesWhatAKilledProcessHasLeftAndNothingElse) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("upload"));
  const std::string left = JoinPath(folder.path(), "uploads/1");
  const std::string other = JoinPath(folder.path(), "other");
  ASSERT_OK(MakeFolders(JoinPath(folder.path(), "uploads")));
  ASSERT_OK(WriteFileAtomically(left, "half", false));
  ASSERT_OK(WriteFileAtomically(other, "mine", false));
  ASSERT_OK_AND_ASSIGN(const auto uploads, UploadFolder::Open(folder.path(), 1));
  EXPECT_FALSE(Exists(left));
  EXPECT_TRUE(Exists(other));
  EXPECT_THAT(UploadFolder::Open(folder.path(), 1),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("slipway-web")));
}

TEST(UploadFolderTest, AFileIsThereForAsLongAsItsUpload) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("upload"));
  ASSERT_OK_AND_ASSIGN(const auto uploads, UploadFolder::Open(folder.path(), 1));
  ASSERT_OK_AND_ASSIGN(auto sink, uploads->Begin());
  EXPECT_FALSE(Exists(JoinPath(folder.path(), "uploads/1")));
  ASSERT_OK(sink->Append("a piece"));
  EXPECT_TRUE(Exists(JoinPath(folder.path(), "uploads/1")));
  EXPECT_THAT(uploads->Begin(), StatusIs(absl::StatusCode::kResourceExhausted));
  sink = nullptr;
  EXPECT_FALSE(Exists(JoinPath(folder.path(), "uploads/1")));
  EXPECT_OK(uploads->Begin().status());
}

}  // namespace
}  // namespace slipway::web
