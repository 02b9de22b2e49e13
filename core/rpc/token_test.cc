#include "core/rpc/token.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Token : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    EXPECT_EQ(chmod(path_.c_str(), 0600), 0);
    return ReadToken(path_);
  }
  const TemporaryFolder folder_ = *TemporaryFolder::Create("token_test");
  const std::string path_ = JoinPath(folder_.path(), "token");
};

TEST_F(Token, DropsBlanksAroundIt) {
  EXPECT_EQ(Read("0123456789abcdef").value(), "0123456789abcdef");
  EXPECT_EQ(Read(" \t0123456789abcdef\r\n").value(), "0123456789abcdef");
}

TEST_F(Token, WantsSixteenPrintableCharacters) {
  for (const std::string text : {"", "\n", "0123456789abcde", "01234567 89abcdef0",
                                 "0123456789abcdef\x7f", "0123456789abcde\xc3\xa9"}) {
    EXPECT_THAT(Read(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                     AllOf(HasSubstr(path_), HasSubstr("at least 16"))))
        << text;
  }
}

TEST_F(Token, IsASecret) {
  ASSERT_TRUE(Read("0123456789abcdef").ok());
  for (const mode_t mode : {0666, 0644, 0660}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_THAT(ReadToken(path_),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         AllOf(HasSubstr("--token-file"), HasSubstr("chmod 600 " + path_))));
  }
}

TEST_F(Token, SaysWhichFlagNamesAFileThatIsNotThereOrTooLarge) {
  EXPECT_THAT(ReadToken(JoinPath(folder_.path(), "none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--token-file")));
  EXPECT_EQ(Read(std::string(4'096, 'a'))->size(), 4'096);
  EXPECT_FALSE(Read(std::string(4'097, 'a')).ok());
}

TEST(TokenFile, WithoutOneThereIsNoToken) { EXPECT_EQ(ReadToken("").value(), ""); }

}  // namespace
}  // namespace slipway
