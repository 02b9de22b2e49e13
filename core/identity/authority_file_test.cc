#include "core/identity/authority_file.h"

#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class AuthorityFileTest : public ::testing::Test {
 protected:
  const absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  const TemporaryFolder folder_ = *TemporaryFolder::Create("authority_file");
  const std::string path_ = JoinPath(folder_.path(), "authority.pem");
};

TEST_F(AuthorityFileTest, IsMadeOnceAndIsItsOwnersAlone) {
  const auto made = OpenAuthority(path_, now_);
  ASSERT_OK(made);
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const auto again = OpenAuthority(path_, now_ + absl::Hours(1));
  ASSERT_OK(again);
  EXPECT_EQ((*again)->certificate(), (*made)->certificate());
  EXPECT_EQ((*again)->ToPem(), (*made)->ToPem());
}

TEST_F(AuthorityFileTest, ADamagedOneIsNotReplaced) {
  ASSERT_OK(OpenAuthority(path_, now_));
  const std::string pem = *ReadFile(path_, 1 << 20);
  for (const std::string& bytes :
       {std::string(), std::string("x"), pem.substr(0, pem.size() / 2)}) {
    std::ofstream(path_, std::ios::trunc) << bytes;
    EXPECT_THAT(
        OpenAuthority(path_, now_),
        StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(path_), HasSubstr("join again"))));
    EXPECT_EQ(*ReadFile(path_, 1 << 20), bytes);
  }
}

TEST_F(AuthorityFileTest, OneThatOthersMayReadIsRefused) {
  ASSERT_OK(OpenAuthority(path_, now_));
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  EXPECT_THAT(OpenAuthority(path_, now_), StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace slipway
